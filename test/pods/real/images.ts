/** The images of the tests: those that the whole run shares, else those of one file. */
import { after, before } from 'node:test';
import { buildImages, type Images } from '../../../docker/build.ts';
import { buildFixtures } from '../../helpers/fixture.ts';

/** Named by `node test/run.ts` in the environment; else built before the file's tests and removed after them. */
export function sharedImages(): () => Pick<Images, 'bare' | 'busybox'> {
  const { TEST_IMAGE_BARE: bare, TEST_IMAGE: busybox } = process.env;
  if (bare && busybox) return () => ({ bare, busybox });
  let images: Images | undefined;
  before(async () => {
    images = await buildImages((await buildFixtures()).member);
  });
  after(() => images?.remove());
  return () => {
    if (!images) throw new Error('internal error: the images are built before the first test');
    return images;
  };
}
