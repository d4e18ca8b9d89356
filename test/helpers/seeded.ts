/**
 * For property tests: the same runs each time, so that a change is what makes a test fail and not the day. TEST_SEED=N
 * tries others; fast-check prints the seed of a run that fails.
 */
import fc from 'fast-check';

const USUAL_SEED = 20_260_101;

fc.configureGlobal({ seed: Number(process.env.TEST_SEED ?? USUAL_SEED) });
