/**
 * The first JavaScript that runs in a container: compiles the bundle from its V8 code cache and enters it.
 * The build lays it beside the bundle as `app/main.cjs`.
 */
import { compileBundle, enterBundle } from './bundle.ts';

enterBundle(compileBundle(import.meta.dirname), import.meta.dirname, require);
