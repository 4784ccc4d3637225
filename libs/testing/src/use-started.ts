import { afterAll, beforeAll } from '@jest/globals';

/** Returns a proxy of an object that is created later: each access to a member is forwarded to the object of that moment. */
export function later<T extends object>(object: () => T): T {
  const get = (_: object, name: string | symbol): unknown => {
    const member: unknown = Reflect.get(object(), name);
    return typeof member === 'function' ? member.bind(object()) : member;
  };
  const handler: ProxyHandler<object> = {
    get,
    ownKeys: () => Reflect.ownKeys(object()),
    getOwnPropertyDescriptor: (_, name) => ({ configurable: true, enumerable: true, value: get(_, name) }),
  };
  return new Proxy({}, handler) as T;
}

/** Starts something for the tests of a file, and stops it after them. */
export function useStarted<T extends object>(
  start: () => Promise<T>,
  stop: (started: T) => Promise<unknown>,
): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(async () => {
    if (started !== undefined) await stop(started);
  });
  return later(() => started!);
}
