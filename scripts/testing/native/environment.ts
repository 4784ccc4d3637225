/** Test files run in the realm of the worker, so that they share its modules. */
export default class NativeEnvironment {
  readonly fakeTimers = null;
  readonly fakeTimersModern = null;
  readonly moduleMocker = null;
  readonly global = {
    set console(console: Console) {
      globalThis.console = console;
    },
    get console(): Console {
      return globalThis.console;
    },
  };

  async setup(): Promise<void> {}
  async teardown(): Promise<void> {}
  getVmContext(): null {
    return null;
  }
}
