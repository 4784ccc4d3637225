import { expect, test } from '@jest/globals';
import { type Capabilities, capabilitiesReader, knownForMs } from './capabilities.ts';

/** A reader with a clock that only the test moves, and the paths of each of its requests. */
function reader() {
  const asked: string[][] = [];
  const time = { ms: 0 };
  const ask = async (paths: string[]): Promise<Capabilities> => {
    asked.push(paths);
    if (paths.includes('broken')) throw new Error('no response');
    return Object.fromEntries(paths.map((path) => [path, ['read', path]]));
  };
  return { ...capabilitiesReader(ask, () => time.ms), asked, time };
}

test('what is asked in one turn is one request, without repetitions', async () => {
  const { read, asked } = reader();
  const both = await Promise.all([read(['a', 'b']), read(['b', 'c'])]);
  expect(both).toEqual([
    { a: ['read', 'a'], b: ['read', 'b'] },
    { b: ['read', 'b'], c: ['read', 'c'] },
  ]);
  expect(asked).toEqual([['a', 'b', 'c']]);
});

test('an answer is known for five minutes, whatever else is asked with its path', async () => {
  const { read, asked, time } = reader();
  await read(['a', 'b']);
  time.ms = knownForMs - 1;
  await read(['b', 'c']);
  expect(asked).toEqual([['a', 'b'], ['c']]);
  time.ms = knownForMs;
  await read(['a', 'c']);
  expect(asked).toEqual([['a', 'b'], ['c'], ['a']]);
});

test('is asked again after a refusal, and after a request that failed', async () => {
  const { read, forget, asked } = reader();
  await read(['a']);
  forget();
  await read(['a']);
  await expect(read(['broken'])).rejects.toThrow('no response');
  await expect(read(['broken'])).rejects.toThrow('no response');
  expect(asked).toEqual([['a'], ['a'], ['broken'], ['broken']]);
});

test('a request has at most 256 paths', async () => {
  const { read, asked } = reader();
  await read(Array.from({ length: 300 }, (_, index) => String(index)));
  expect(asked.map((paths) => paths.length)).toEqual([256, 44]);
});
