-- A store of version 1: a run, an experiment, their points and states.
PRAGMA application_id = 0x48454d57;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        created REAL NOT NULL,      -- Unix time
        request TEXT NOT NULL,      -- JSON: what was asked for
        choice TEXT NOT NULL,       -- JSON: what was decided
        dataset TEXT NOT NULL,      -- JSON: what was trained on
        status TEXT NOT NULL,       -- running, done or failed
        pid INTEGER NOT NULL,       -- the process that works on it,
        host TEXT NOT NULL,         -- on which machine,
        process_started TEXT NOT NULL, -- since when
        report TEXT,                -- JSON, once done
        failure TEXT                -- once failed
    );
INSERT INTO runs VALUES(1,'e22nb',1794890110.2032651901,'{"data":{"spec":"/data/data.libsvm","format":null,"zero_based":false,"label":null,"positive":null,"regression":false,"normalise_rows":false,"standardise":false,"fraction":1.0},"test":null,"loss":"logistic","lambda":0.0001,"bias":false,"algorithm":"cocoa","parameters":{},"workers":1,"engine":null,"cluster":null,"ranks":{"hosts":null,"launcher":null,"restarts":0},"stop":{"error":0.01,"objective":null,"within":null,"rounds":null},"planning":{"budget":null,"cheapest":false,"risk":"expected","max_workers":null,"adapt":true,"hysteresis":0.05},"scoring":null,"seed":0,"checkpoint_every":5.0,"model":null}','{"algorithm":"cocoa","parameters":{},"workers":1,"engine":"threads","cluster":null,"stop":{"error":0.01,"objective":null,"within":null,"rounds":null},"scoring":{"share":0.08},"reason":"as asked","switches":[]}','{"name":"/data/data.libsvm","rows":4,"features":4,"nonzeros":10,"labels":{"classes":{"negative":"-1","positive":"+1"}}}','done',9465,'somewhere','221281','{"run":"e22nb","model":"models/e22nb.json","dataset":{"name":"/data/data.libsvm","rows":4,"features":4,"nonzeros":10,"labels":{"classes":{"negative":"-1","positive":"+1"}}},"loss":"logistic","lambda":0.0001,"bias":false,"algorithm":"cocoa","parameters":{},"workers":1,"engine":"threads","reason":"as asked","seed":0,"rounds":6,"seconds":0.002878194,"wall_seconds":0.003050681,"load_seconds":0.000476005,"scoring_seconds":0.000012578,"total_seconds":0.003526686,"overhead_seconds":0.0,"primal":0.006294081638330714,"dual":0.006283425321986607,"certified_error":0.001695940637258487,"relative_to_start":false,"stop":"error","goal_reached":true,"switches":[],"plan":null,"path":[],"alternatives":[],"rejected":[],"reused":[],"warnings":[],"train_accuracy":1.0}',NULL);
INSERT INTO runs VALUES(2,'n38t4',1794890111.8788557052,'{"data":{"spec":"/data/data.libsvm","format":null,"zero_based":false,"label":null,"positive":null,"regression":false,"normalise_rows":false,"standardise":false,"fraction":1.0},"test":null,"loss":"logistic","lambda":0.0001,"bias":false,"algorithm":"cocoa","parameters":{},"workers":1,"engine":"simulated","cluster":null,"ranks":{"hosts":null,"launcher":null,"restarts":0},"stop":{"error":0.00001,"objective":null,"within":null,"rounds":3},"planning":{"budget":null,"cheapest":false,"risk":"expected","max_workers":null,"adapt":true,"hysteresis":0.05},"scoring":{"every":1},"seed":0,"checkpoint_every":5.0,"model":null}','{"algorithm":"cocoa","parameters":{},"workers":1,"engine":"simulated","cluster":{"network":{"latency":0.00005,"bandwidth":1250000000.0,"collective":"tree"},"stragglers":{"probability":0.0,"slowdown":0.0,"noise":0.0},"machines":[],"here":{"flops":7045489355.184562,"bytes":1285245890.4724538}},"stop":{"error":0.00001,"objective":null,"within":null,"rounds":3},"scoring":{"every":1},"reason":"as asked","switches":[]}','{"name":"/data/data.libsvm","rows":4,"features":4,"nonzeros":10,"labels":{"classes":{"negative":"-1","positive":"+1"}}}','done',9476,'somewhere','221297','{"run":"n38t4","model":"models/n38t4.json","dataset":{"name":"/data/data.libsvm","rows":4,"features":4,"nonzeros":10,"labels":{"classes":{"negative":"-1","positive":"+1"}}},"loss":"logistic","lambda":0.0001,"bias":false,"algorithm":"cocoa","parameters":{},"workers":1,"engine":"simulated","reason":"as asked","seed":0,"rounds":3,"seconds":6.888948577478261e-7,"wall_seconds":0.000205584,"load_seconds":0.000258082,"scoring_seconds":0.000015663,"total_seconds":6.888948577478261e-7,"overhead_seconds":0.0,"primal":0.006343508841211198,"dual":0.006103434548337741,"certified_error":0.03933429464554104,"relative_to_start":false,"stop":"rounds","goal_reached":false,"switches":[],"plan":null,"path":[],"alternatives":[],"rejected":[],"reused":[],"warnings":[],"train_accuracy":1.0}',NULL);
CREATE TABLE points (
        run INTEGER NOT NULL REFERENCES runs (number),
        round INTEGER NOT NULL,
        seconds REAL NOT NULL,
        wall_seconds REAL NOT NULL,
        current REAL,               -- NULL is not a number: the round diverged
        primal REAL,
        dual REAL,
        certified_error REAL,
        PRIMARY KEY (run, round)
    ) WITHOUT ROWID;
INSERT INTO points VALUES(1,3,0.0028765530000000000092,0.0029500910000000001714,0.0063435088412111982278,0.0063435088412111982278,0.0061034345483377411278,0.039334294645541043045);
INSERT INTO points VALUES(1,6,0.0028781940000000001515,0.0030284270000000002021,0.006294081638330713789,0.006294081638330713789,0.0062834253219866071163,0.0016959406372584870294);
INSERT INTO points VALUES(2,1,2.3812018542608695409e-07,8.3893999999999993317e-05,0.0070037753503840094113,0.0070037753503840094113,0.004644407481889726609,0.50800190932751632111);
INSERT INTO points VALUES(2,2,4.7624037085217390818e-07,0.00016078800000000000622,0.0064081888313763102349,0.0064081888313763102349,0.0060806807730419592042,0.05386042625144266821);
INSERT INTO points VALUES(2,3,6.8889485774782607905e-07,0.00018485400000000000247,0.0063435088412111982278,0.0063435088412111982278,0.0061034345483377411278,0.039334294645541043045);
CREATE TABLE checkpoints (
        run INTEGER PRIMARY KEY REFERENCES runs (number),
        round INTEGER NOT NULL,
        state BLOB NOT NULL
    );
INSERT INTO checkpoints VALUES(1,6,X'06ffd73fa30294673f983b3009e2ff683f04915fd2ea42a41b407c114c47a7961840fb58d337594bfdbffb324cb18b5f05c00104009253877612233fdc1a966ed9f351bf1e7113987c305f3f5817c682fab568bf04915fd2ea42a41b407c114c47a7961840fb58d337594bfdbffb324cb18b5f05c0af41b8acd2c7793f39953c24a6bc793ff039fafe422ee63faf41b8acd2c7793f000000000000f07f0200000000000089400000000000007940000000000030b64006c0f471e3907710bff1a561c27a35e03e01040160c416798e772f3f03000000000000f0b4400000000000008440d8212228c360ea3e07011c0000000000001840000000000000000000000000000000000000000000000000000000000000000000000000000000007abf192dcb69e33e820946f0b0097a3f000000000000000000000000000000000000000000000000000000000000000000000000000010400000000000000040000000000000184000000000000024403a0e6d2e89b1603fc416484aa8b51a3f190ee02880d43d3f000000000000104000000000000000000000000000000000911ecbabd5be513f5f835c11a50cfe3e00000000000000400000000000000840000000000000004000000000000008400460d974724f3c2340bdbca1ffe7be1bc0f7c419aef10a19405234dde5c33217c016c8d907d311ac3c');
INSERT INTO checkpoints VALUES(2,3,X'0364d114d08f1da73ea01af2790c292b3f0489dd81c539071d40554eb209824b19401d957ae9964ef6bffdd56feff60d04c001040366ba1999d6413f712e8b2996cc50bf5401d8064b4d5b3fc617a387aa5867bf0489dd81c539071d40554eb209824b19401d957ae9964ef6bffdd56feff60d04c033fc3cb0a6fb793f1046743ceaff783ff039fafe422ee63f33fc3cb0a6fb793f000000000000f07f030000000000c092400000000000007940000000000038a84003c0fbc9be28e2243fdaf345a1a422273f00000160c416798e772f3f03000000000000d8a64000000000000076400b81032a816cf03e04011c0000000000000840000000000000000000000000000000000000000000000000000000000000000000000000000000002e2bc237081f2a3f55ac466a9554793f00000000000000000000000000000000000000000000000000000000000000000000000000001040000000000000004000000000000008400000000000001440cef1fdbc605c863f3f8e319780e3413f707067e31ba0603f000000000000104000000000000000000000000000000000b5cefd598fc4653fdc2a2e970e273e3f000000000000f03f00000000000000400000000000000040000000000000084004ae8d339fb94724403b9ebcf575751cc0def51d220a741940df0908bea7c417c0a8be5e36c87530e1');
CREATE TABLE calibrations (
        machine TEXT PRIMARY KEY,
        created REAL NOT NULL,
        speed TEXT NOT NULL         -- JSON
    );
INSERT INTO calibrations VALUES('somewhere, some processor',1794890111.8473439217,'{"flops":7045489355.184562,"bytes":1285245890.4724538}');
COMMIT;
