//! A run on the ranks of an MPI job: its stages, and a new start where ranks are lost.

use std::sync::atomic::Ordering;

use hemingway_train::protocol::Loaded;
use hemingway_train::{Checkpoint, Seconds};

use super::task::{Outcome, Task, notice};
use super::{Progress, Watch, unless_changed};
use crate::Error;
use crate::ranks::{Ranks, Said, Setup};

impl Task<'_> {
    /// Starts again from the last checkpoint when ranks are lost, as often as the user allows. What is left of the run is
    /// then done with the same configuration, on as many ranks as there are.
    pub(super) fn train_on_ranks(
        &mut self,
        started: Ranks,
        mut setup: Setup,
        mut from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        if let Some(note) = setup.full_cores(self.choice.workers, self.choice.servers()) {
            (watch.observe)(Progress::Noticed(&note));
            self.notes.push(note);
        }
        let mut started = Ok(started);
        let mut restarts = self.request.ranks.restarts;
        loop {
            let result = started.and_then(|ranks| self.train_with(ranks, from, watch));
            let interrupted = watch.interrupt.load(Ordering::Relaxed);
            let reason = match result {
                // Whatever became of the ranks, the user wants what there is.
                Err(error) if interrupted && (error.is_loss() || matches!(error, Error::Interrupted)) => {
                    return self.last_checkpoint();
                }
                Err(error) if error.is_loss() && restarts > 0 => error,
                result => return result,
            };
            restarts -= 1;
            let servers = self.choice.servers();
            let gone = match setup.drop_lost_hosts(&reason, servers, watch.interrupt) {
                Err(Error::Interrupted) => return self.last_checkpoint(),
                gone => gone?,
            };
            self.choice.workers = self.choice.workers.min(setup.workers_beside(servers));
            let workers = self.choice.workers;
            if let Some(adaptive) = &mut self.adaptive {
                adaptive.stay();
            }
            setup = setup.with_stages(vec![self.choice.stage(self.stop())]);
            let note;
            (from, note) = self.recorder.begin_again()?;
            notice(note, watch.observe);
            (watch.observe)(Progress::Restarting { reason: &reason, gone: &gone, workers });
            started = setup.start(from.as_ref(), Some(watch.interrupt));
        }
    }

    /// The stages of a run on ranks, which have what they begin from, or keep it from stage to stage.
    fn train_with(
        &mut self,
        mut ranks: Ranks,
        from: Option<Checkpoint>,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        self.check_still_the_same(&ranks.loaded)?;
        let mut quality = None;
        let mut stage = |task: &mut Task, from: Option<&Checkpoint>, watch: &mut Watch| {
            let (stage, hand_over) = (task.choice.stage(task.stop()), task.hand_over());
            let (interrupt, observe) = (watch.interrupt, &mut *watch.observe);
            let begins = from.is_none();
            let (run, reached) =
                ranks.stage(stage, hand_over.as_deref(), interrupt, &mut |said| match said {
                    Said::Event(event) => task.record(event, observe),
                    Said::Loaded(again) => task.loaded_again(again, begins),
                    Said::Begun(seconds) => {
                        task.begun(seconds);
                        Ok(())
                    }
                })?;
            quality = Some(reached);
            Ok(run)
        };
        let run = self.stages(from, watch, &mut stage)?;
        self.stragglers = ranks.stragglers();
        ranks.dismiss();
        Ok(Outcome { run, quality })
    }

    /// Between stages the training clock runs, but before the first one it does not yet.
    fn loaded_again(&mut self, loaded: &Loaded, begins: bool) -> Result<(), Error> {
        if begins {
            self.ready.load_seconds += loaded.load_seconds;
            self.ready.transform_seconds += loaded.transform_seconds;
        }
        self.check_still_the_same(loaded)
    }

    /// Refuses to go on with ranks that have read something else than those before them.
    fn check_still_the_same(&self, loaded: &Loaded) -> Result<(), Error> {
        let then = self.ready.summary.fingerprint.unwrap_or_default();
        unless_changed(
            self.run,
            then.difference(&loaded.fingerprint).map(|difference| difference.to_string()),
        )
    }

    fn begun(&mut self, seconds: Seconds) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.begun(seconds);
        }
    }
}
