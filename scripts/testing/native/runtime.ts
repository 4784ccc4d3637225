import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setGlobals } from './globals.ts';

const globalsUrl = new URL('globals.ts', import.meta.url).href;
/** Comment of a test file that changes what modules hold, or depends on it: they are loaded for it alone. */
const ownModules = '// own modules';

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: globalsUrl, shortCircuit: true };
    const found = next(specifier, context);
    const [, file] = /\?own=(\d+)$/.exec(context.parentURL ?? '') ?? [];
    const isOwn = file !== undefined && found.url.startsWith('file:');
    return isOwn ? { ...found, url: `${found.url}?own=${file}` } : found;
  },
});

let files = 0;

/**
 * Loads test files as Node.js loads a program: a module once for all files of a Jest worker, its types removed by Node.js.
 * Jest's own runtime loads and transforms each module again for each file. Jest calls only these members.
 */
export default class NativeRuntime {
  readonly #variables = { ...process.env };
  readonly #hasOwnModules: boolean;

  constructor(
    ...[, , , , sources, , path]: [object, object, object, object, Map<string, string>, object, string]
  ) {
    this.#hasOwnModules = sources.get(path)?.includes(ownModules) ?? false;
  }

  setGlobalsForRuntime(globals: object): void {
    setGlobals(globals);
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  /** The query makes it another module in each run. */
  async unstable_importModule(path: string): Promise<unknown> {
    files += 1;
    return import(`${pathToFileURL(path).href}?${this.#hasOwnModules ? 'own' : 'file'}=${files}`);
  }

  /** Loads Jest's test functions anew, because they hold the tests and event handlers of a file. */
  requireInternalModule(path: string): unknown {
    const require = createRequire(path);
    delete require.cache[path];
    Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
    return require(path);
  }

  requireModule(path: string): unknown {
    return createRequire(path)(path);
  }

  enterTestCode(): void {}
  leaveTestCode(): void {}

  getSourceMaps(): Map<string, string> {
    return new Map();
  }

  getAllCoverageInfoCopy(): object {
    return {};
  }

  /** Restores the environment variables. */
  teardown(): void {
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    Object.assign(process.env, this.#variables);
  }
}
