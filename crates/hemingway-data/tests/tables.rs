//! Tables as people have them: text, dates, missing cells, columns that say nothing, and test data in another order.

use hemingway_data::{
    Becomes, Dataset, DateOrder, Encoding, Format, LabelColumn, LoadOptions, Loaded, Matrix, NumberStyle,
    Reason, parse_blocks, parse_bytes,
};
use proptest::prelude::*;

fn label(name: &str) -> LoadOptions {
    LoadOptions { label: LabelColumn::Name(name.to_string()), ..LoadOptions::default() }
}

fn load(text: &str, options: &LoadOptions) -> Loaded {
    parse_bytes(Format::Csv, text.as_bytes(), options).unwrap_or_else(|error| panic!("{error}"))
}

fn message(text: &str, options: &LoadOptions) -> String {
    parse_bytes(Format::Csv, text.as_bytes(), options).unwrap_err().to_string()
}

/// How the rows of test data are read that a model of this data is given.
fn as_test(training: &Dataset) -> LoadOptions {
    LoadOptions {
        columns: Some(training.features.count),
        labels: Some(training.labels.clone()),
        encoding: training.encoding.as_deref().cloned(),
        ..LoadOptions::default()
    }
}

fn encoding(data: &Dataset) -> &Encoding {
    data.encoding.as_deref().expect("a table has an encoding")
}

fn becomes<'a>(data: &'a Dataset, name: &str) -> &'a Becomes {
    let columns = &encoding(data).columns;
    &columns.iter().find(|column| column.name == name).expect("a column of this name").becomes
}

/// All rows, zeros included.
fn rows(data: &Dataset) -> Vec<Vec<f32>> {
    let columns = data.matrix.columns();
    match &data.matrix {
        Matrix::Dense(dense) => dense.values().chunks(columns).map(<[f32]>::to_vec).collect(),
        Matrix::Sparse(sparse) => (sparse.offsets().windows(2))
            .map(|bounds| {
                let mut row = vec![0.0; columns];
                for at in bounds[0]..bounds[1] {
                    row[sparse.indices()[at] as usize] = sparse.values()[at];
                }
                row
            })
            .collect(),
    }
}

const PASSENGERS: &str = "\
PassengerId,survived,age,sex,boarded,port,crew
1,yes,22,male,2024-03-01,S,no
2,no,,female,2024-03-02,C,no
3,no,26,female,2024-03-01,S,yes
4,yes,NA,male,,Q,no
5,no,38,male,2024-03-03,\"\",no
";

#[test]
fn columns_become_what_they_hold() {
    let data = load(PASSENGERS, &label("survived")).dataset;
    assert_eq!(*becomes(&data, "PassengerId"), Becomes::LeftOut { reason: Reason::Identifier });
    let mean = (22.0 + 26.0 + 38.0) / 3.0;
    let Becomes::Number { fill, centre, indicator } = becomes(&data, "age") else { panic!("a number") };
    assert!((fill - mean).abs() < 0.01, "{fill}");
    assert_eq!((*centre, *indicator), (0.0, false));
    let Becomes::Date { order: DateOrder::DayFirst, fill, .. } = becomes(&data, "boarded") else {
        panic!("a date")
    };
    assert!((fill - 19_784.0).abs() < 10.0, "{fill}");
    assert_eq!(*becomes(&data, "crew"), Becomes::Boolean { fill: 0.0, indicator: false });
    let names = ["age", "sex=female", "boarded", "port=S", "port=missing", "port=C", "port=Q", "crew"];
    let mut found = data.feature_names().unwrap();
    let mut expect = names.map(str::to_string).to_vec();
    (found.sort(), expect.sort());
    assert_eq!(found, expect);
    assert_eq!(data.targets, [1.0, -1.0, -1.0, 1.0, -1.0]);
}

#[test]
fn numbers_are_centred_on_request_where_zeros_are_few() {
    let options = LoadOptions { centre: true, ..label("y") };
    let data = load("y,a,flag,kind\n1,10,1,u\n0,20,0,v\n1,,0,u\n", &options).dataset;
    assert_eq!(*becomes(&data, "a"), Becomes::Number { fill: 15.0, centre: 15.0, indicator: false });
    assert!(matches!(becomes(&data, "flag"), Becomes::Number { centre: 0.0, .. }));
    assert_eq!(rows(&data), [[-5.0, 1.0, 0.0], [5.0, 0.0, 1.0], [0.0, 0.0, 0.0]]);
}

#[test]
fn a_missing_cell_far_from_the_beginning_is_filled() {
    let plain: String = (0..5000).map(|row| format!("{},{},2\n", row % 2, row % 10)).collect();
    let data = load(&format!("label,a,b\n{plain}1,,2\n"), &LoadOptions::default()).dataset;
    assert_eq!(rows(&data)[5000], [4.5, 2.0]);
    assert_eq!(
        rows(&data)[..5000],
        rows(&load(&format!("label,a,b\n{plain}"), &LoadOptions::default()).dataset)
    );
    let text = message(&format!("label,a,b\n{plain}1,x,2\n"), &LoadOptions::default());
    assert!(text.contains("bytes:5002: column 2 (a) is “x”") && text.contains("--text COLUMN"), "{text}");
    let options = LoadOptions { text: vec!["a".to_string()], ..LoadOptions::default() };
    let data = load(&format!("label,a,b\n{plain}1,x,2\n"), &options).dataset;
    assert!(matches!(becomes(&data, "a"), Becomes::Text { other: true, .. }));
}

#[test]
fn a_column_without_values_at_the_beginning_takes_its_type_from_what_comes() {
    let lines = |last: &str| {
        let empty: String = (0..3000).map(|row| format!("{},,{row}.5\n", row % 2)).collect();
        let filled: String = (0..100).map(|row| format!("{},{last},1\n", row % 2)).collect();
        load(&format!("label,a,b\n{empty}{filled}"), &LoadOptions::default()).dataset
    };
    assert!(matches!(becomes(&lines("7"), "a"), Becomes::Number { fill: 7.0, .. }));
    assert!(matches!(becomes(&lines("yes"), "a"), Becomes::Boolean { .. }));
    assert!(matches!(becomes(&lines("2024-01-05"), "a"), Becomes::Date { .. }));
    assert!(matches!(becomes(&lines("word"), "a"), Becomes::Text { .. }));
}

#[test]
fn missing_cells_get_a_feature_where_they_tell_the_label() {
    let lines = |missing_when: &dyn Fn(usize) -> bool| {
        let cell = |row: usize| if missing_when(row) { String::new() } else { format!("{}", row % 7) };
        let text: String = (0..400).map(|row| format!("{},{}\n", row % 2, cell(row))).collect();
        load(&format!("label,a\n{text}"), &LoadOptions::default()).dataset
    };
    let told = lines(&|row| row % 2 == 0 && row % 3 == 0);
    assert_eq!(told.feature_names().unwrap(), ["a", "a=missing"]);
    let untold = lines(&|row| row % 5 == 0);
    assert_eq!(untold.feature_names().unwrap(), ["a"]);
}

#[test]
fn test_data_is_matched_by_name() {
    let training = load(PASSENGERS, &label("survived")).dataset;
    let same = load(PASSENGERS, &as_test(&training));
    assert_eq!((&same.dataset.matrix, &same.dataset.targets), (&training.matrix, &training.targets));
    let turned: String = PASSENGERS
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').rev().collect();
            format!("x,{}\n", fields.join(","))
        })
        .collect();
    let turned = load(&turned, &as_test(&training));
    assert_eq!((&turned.dataset.matrix, &turned.dataset.targets), (&training.matrix, &training.targets));
    assert_eq!(turned.ignored_columns, ["x"]);
    let unlabelled: String =
        PASSENGERS.lines().map(|line| line.split(',').skip(2).collect::<Vec<_>>().join(",") + "\n").collect();
    let unlabelled = load(&unlabelled, &as_test(&training)).dataset;
    assert_eq!((&unlabelled.matrix, unlabelled.targets.len()), (&training.matrix, 0));
    let text = message("Age,sex,boarded,port,crew\n1,male,,S,no\n", &as_test(&training));
    assert!(text.contains("the model needs age") && text.contains("did you mean Age?"), "{text}");
    let text = message("1,2,3,4,5,6,7\n1,2,3,4,5,6,7\n", &as_test(&training));
    assert!(text.contains("begins without names"), "{text}");
}

#[test]
fn plain_test_data_in_another_order_is_the_same() {
    let training = load("a,b,label\n1,2,1\n3,4,0\n5,7,1\n", &LoadOptions::default()).dataset;
    for text in ["a,b,label\n1,2,1\n3,4,0\n5,7,1\n", "label,b,id,a\n1,2,7,1\n0,4,8,3\n1,7,9,5\n"] {
        let test = load(text, &as_test(&training)).dataset;
        assert_eq!((&test.matrix, &test.targets), (&training.matrix, &training.targets));
    }
    let gap = load("a,b\n1,\n", &as_test(&training)).dataset;
    assert_eq!(rows(&gap), [[1.0, 4.333]], "a missing number counts as the mean of the training data");
}

#[test]
fn without_names_places_count() {
    let training = load("0.5,2,yes\n3,4,no\n5.5,1,no\n", &LoadOptions::default()).dataset;
    assert_eq!(training.feature_names().unwrap(), ["column 1", "column 2"]);
    let test = load("0.5,2,yes\n3,4,no\n", &as_test(&training)).dataset;
    assert_eq!((rows(&test), test.targets), (vec![vec![0.5, 2.0], vec![3.0, 4.0]], vec![1.0, -1.0]));
    assert_eq!(rows(&load("0.5,2\n3,4\n", &as_test(&training)).dataset), [[0.5, 2.0], [3.0, 4.0]]);
    let text = message("0.5,2,3,yes\n", &as_test(&training));
    assert!(text.contains("4 columns") && text.contains("has 3"), "{text}");
    let text = message("a,b,y\n0.5,2,yes\n", &as_test(&training));
    assert!(text.contains("begins with names"), "{text}");
}

#[test]
fn levels_that_training_did_not_see_count_as_others() {
    let text: String = (0..30).map(|row| format!("{},{}\n", row % 2, ["u", "v", "w"][row % 3])).collect();
    let training = load(&format!("label,kind\n{text}1,rare\n"), &LoadOptions::default()).dataset;
    assert_eq!(training.feature_names().unwrap(), ["kind=u", "kind=v", "kind=w", "kind=other"]);
    let test = load("kind\nv\nnew\n", &as_test(&training));
    assert_eq!(rows(&test.dataset), [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]);
    assert_eq!(test.unseen_levels, 0, "others have a feature");
    let training = load(&format!("label,kind\n{text}"), &LoadOptions::default()).dataset;
    let test = load("kind\nv\nnew\n", &as_test(&training));
    assert_eq!(rows(&test.dataset), [[0.0, 1.0, 0.0], [0.0; 3]]);
    assert_eq!(test.unseen_levels, 1);
    let training = load("label,member,a\n1,yes,1\n0,no,2\n", &LoadOptions::default()).dataset;
    let test = load("member,a\nmaybe,1\n,1\nYES,1\n", &as_test(&training));
    assert_eq!(
        (rows(&test.dataset), test.unseen_levels),
        (vec![vec![0.0, 1.0], vec![0.0, 1.0], vec![1.0, 1.0]], 1)
    );
}

#[test]
fn very_many_levels_are_hashed_into_features() {
    let text: String = (0..60_000).map(|row| format!("{},k{}\n", row % 2, row % 9000)).collect();
    let data = load(&format!("label,key\n{text}"), &LoadOptions::default()).dataset;
    assert_eq!(*becomes(&data, "key"), Becomes::Hashed { buckets: 4096 });
    assert_eq!((data.matrix.columns(), data.matrix.nonzeros()), (4096, 60_000));
    let test = load("key\nk17\n", &as_test(&data)).dataset;
    assert_eq!(rows(&test)[0], rows(&data)[17]);
}

#[test]
fn columns_that_say_nothing_are_left_out() {
    let text = ",name,city,empty,a,y\n0,Ann,X,,1,1\n1,Bob,X,,2,0\n2,Cid,X,,5,1\n";
    let data = load(text, &LoadOptions::default()).dataset;
    let reasons: Vec<&Becomes> = encoding(&data).columns.iter().map(|column| &column.becomes).collect();
    let left_out = |reason| Becomes::LeftOut { reason };
    assert_eq!(*reasons[0], left_out(Reason::RowNumbers));
    assert_eq!(*reasons[1], left_out(Reason::AllDistinct));
    assert_eq!(*reasons[2], left_out(Reason::OneValue));
    assert_eq!(*reasons[3], left_out(Reason::Empty));
    assert_eq!(rows(&data), [[1.0], [2.0], [5.0]]);
}

#[test]
fn columns_are_dropped_kept_and_typed_on_request() {
    let text = "id,a,zip,b,y\n1,5,100,7,1\n2,6,200,8,0\n3,5,100,9,1\n4,5,200,9,1\n";
    let names = |options: LoadOptions| load(text, &options).dataset.feature_names().unwrap();
    let list = |columns: &[&str]| columns.iter().map(|column| (*column).to_string()).collect::<Vec<_>>();
    let default = LoadOptions::default;
    assert_eq!(names(default()), ["a", "zip", "b"]);
    assert_eq!(names(LoadOptions { drop: list(&["a", "B"]), ..default() }), ["zip"]);
    assert_eq!(names(LoadOptions { keep: list(&["id", "a"]), ..default() }), ["id", "a"]);
    assert_eq!(names(LoadOptions { text: list(&["zip"]), ..default() }), ["a", "zip=200", "b"]);
    let message = message(text, &LoadOptions { drop: list(&["zib"]), ..default() });
    assert!(message.contains("no column zib") && message.contains("did you mean zip?"), "{message}");
}

#[test]
fn numbers_with_commas() {
    let numbers = NumberStyle { decimal_comma: true, thousands: true };
    let options = LoadOptions { numbers, ..LoadOptions::default() };
    let training = load("y;a\n1;1.234,5\n0;2,5\n", &options).dataset;
    assert_eq!(rows(&training), [[1234.5], [2.5]]);
    assert_eq!(rows(&load("a\n\"2.000,25\"\n", &as_test(&training)).dataset), [[2000.25]]);
}

#[test]
fn rows_are_named_on_request() {
    let training = load(PASSENGERS, &label("survived")).dataset;
    let options = LoadOptions { id: Some("PassengerId".to_string()), ..as_test(&training) };
    let test = load(PASSENGERS, &options);
    assert_eq!(test.ids, ["1", "2", "3", "4", "5"]);
    assert_eq!(test.dataset.matrix, training.matrix);
    let options = LoadOptions { id: Some("sex".to_string()), ..as_test(&training) };
    assert_eq!(load(PASSENGERS, &options).ids[0], "male");
}

#[test]
fn only_rows_that_will_be_trained_on_are_learnt_from() {
    let text: String = (0..200).map(|row| format!("{},{},level{}\n", row % 2, row, row / 10)).collect();
    let text = format!("label,a,kind\n{text}");
    let options = LoadOptions { learn_on: Some((0.5, 3)), ..LoadOptions::default() };
    let all = load(&text, &options).dataset;
    let half = all.sample(0.5, 3);
    let mean = rows(&half).iter().map(|row| row[0]).sum::<f32>() / 100.0;
    let Becomes::Number { fill, .. } = becomes(&all, "a") else { panic!("a number") };
    assert!((fill - mean).abs() < 0.1, "{fill} is not the mean {mean} of the sample");
}

#[test]
fn odd_tables_get_a_clear_message_or_the_right_thing() {
    assert!(message("a,b,label\n", &LoadOptions::default()).contains("no rows"));
    assert!(
        message("label,a\n1,x\n0,y,z\n", &LoadOptions::default())
            .contains("bytes:3: 2 fields expected, 3 found")
    );
    assert!(message("label,a\n1,\"x\n0,y\"\n", &LoadOptions::default()).contains("does not end on its line"));
    let wide: Vec<String> = (0..10_000).map(|column| format!("c{column}")).collect();
    let row = vec!["word"; 5_000].join(",") + "," + &vec!["1"; 5_000].join(",");
    let text = format!("{},label\n{row},1\n{row},0\n", wide.join(","));
    assert_eq!(load(&text, &LoadOptions::default()).dataset.matrix.columns(), 5_000);
    let latin = b"label,a\n1,caf\xe9\n0,tea\n1,caf\xe9\n0,tea\n";
    let data = parse_bytes(Format::Csv, latin, &LoadOptions::default()).unwrap().dataset;
    assert_eq!(data.matrix.columns(), 1);
}

#[test]
fn a_million_levels_are_text_that_says_nothing() {
    let text: String = (0..1_000_000).map(|row| format!("{},k{row},{}\n", row % 2, row % 7)).collect();
    let data = load(&format!("label,key,a\n{text}"), &LoadOptions::default()).dataset;
    assert_eq!(data.feature_names().unwrap(), ["a"]);
}

/// A cell of a table: anything that people write.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("NA".to_string()),
        (-50i32..50).prop_map(|value| value.to_string()),
        "[a-c]{1,2}",
        Just("yes".to_string()),
        (1u32..28, 1u32..13).prop_map(|(day, month)| format!("2024-{month:02}-{day:02}")),
        Just("\"a, b\"".to_string()),
    ]
}

proptest! {
    #[test]
    fn neither_blocks_nor_the_order_of_columns_matter(
        cells in prop::collection::vec((any::<bool>(), prop::collection::vec(cell(), 4)), 2..25),
        block in 1usize..100,
        order in Just([0usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let table = |order: &[usize]| {
            let names: Vec<String> = order.iter().map(|at| format!("c{at}")).collect();
            let line = |(label, cells): &(bool, Vec<String>)| {
                let cells: Vec<&str> = order.iter().map(|at| cells[*at].as_str()).collect();
                format!("{},{}\n", u8::from(*label), cells.join(","))
            };
            format!("label,{}\n{}", names.join(","), cells.iter().map(line).collect::<String>())
        };
        let read = |text: &str, block, options: &LoadOptions| {
            parse_blocks(Format::Csv, text.as_bytes(), block, options).map_err(|error| error.to_string())
        };
        let text = table(&[0, 1, 2, 3]);
        let whole = read(&text, 1 << 20, &LoadOptions::default());
        prop_assert_eq!(&whole, &read(&text, block, &LoadOptions::default()));
        if let Ok(training) = whole {
            let turned = read(&table(&order), block, &as_test(&training.dataset)).unwrap();
            prop_assert_eq!(&turned.dataset.matrix, &training.dataset.matrix);
            prop_assert_eq!(&turned.dataset.targets, &training.dataset.targets);
            prop_assert_eq!(turned.unseen_levels, 0);
        }
    }
}

#[test]
fn a_column_of_weights_is_no_feature() {
    let options = LoadOptions { weight: Some("times".to_string()), ..LoadOptions::default() };
    let data = load("label,a,times\n1,5,2\n0,6,0.5\n", &options).dataset;
    assert_eq!((rows(&data), data.weights.as_deref()), (vec![vec![5.0], vec![6.0]], Some(&[2.0, 0.5][..])));
    assert_eq!(*becomes(&data, "times"), Becomes::LeftOut { reason: Reason::Weight });
    let text = message("label,a,times\n1,5,2\n0,6,-1\n", &options);
    assert!(text.contains("bytes:3: column 3 (times) is “-1”, which is not a weight"), "{text}");
    assert!(message("label,a,times\n1,5,0\n0,6,0\n", &options).contains("all rows have weight 0"));
}

#[test]
fn columns_are_named_in_tables_only() {
    let options = LoadOptions { drop: vec!["a".to_string()], ..LoadOptions::default() };
    let text = parse_bytes(Format::Libsvm, b"1 1:2\n0 1:3\n", &options).unwrap_err().to_string();
    assert!(text.contains("libsvm data has no columns with names"), "{text}");
}
