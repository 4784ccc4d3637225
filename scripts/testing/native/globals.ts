import { ModernFakeTimers } from '@jest/fake-timers';
import type * as Jest from '@jest/globals';
import { ModuleMocker } from 'jest-mock';

type Globals = Pick<
  typeof Jest,
  'afterAll' | 'afterEach' | 'beforeAll' | 'beforeEach' | 'describe' | 'expect' | 'it' | 'test'
>;

let current: Globals;

/** Sets the functions of the test file that runs. Clocks and functions that an earlier file has replaced are restored. */
export function setGlobals(globals: object): void {
  current = globals as Globals;
  timers.useRealTimers();
  mocker.restoreAllMocks();
}

/**
 * The function that `resolve` finds in the test file that runs, also for a module that another file loaded. So are its members,
 * such as `test.skip`.
 */
const forwarded = <F extends object>(resolve: () => F): F =>
  new Proxy(function forward() {} as unknown as F, {
    apply: (_target, self, args) => Reflect.apply(resolve() as never, self, args),
    get: (_target, property) => {
      const member: unknown = Reflect.get(resolve(), property);
      return typeof member === 'function' ? forwarded(() => Reflect.get(resolve(), property)) : member;
    },
  });
const forward = <N extends keyof Globals>(name: N): Globals[N] => forwarded(() => current[name] as never);

export const afterAll = forward('afterAll');
export const afterEach = forward('afterEach');
export const beforeAll = forward('beforeAll');
export const beforeEach = forward('beforeEach');
export const describe = forward('describe');
export const expect = forward('expect');
export const it = forward('it');
export const test = forward('test');

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {}, rootDir: '' } as never, global: globalThis });

/** The members of `jest` that tests use. */
export const jest = {
  advanceTimersByTimeAsync: (ms: number) => timers.advanceTimersByTimeAsync(ms),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  spyOn: mocker.spyOn.bind(mocker),
  useFakeTimers: (config?: object) => timers.useFakeTimers(config),
  useRealTimers: () => timers.useRealTimers(),
};
