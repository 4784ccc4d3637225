import { expect, test } from '@jest/globals';
import { excessesOf } from './long-run.ts';

test.each([
  [2_000, [195, 285, 350, 355, 414], []],
  [2_001, [195, 285, 350, 355, 414], ['a response took 2001 ms, more than 2000']],
  [10, [195, 285, 350, 355, 415], ['the memory grew from 350 to 415 MiB']],
])(
  'a long run may take 2 s per response, and 64 MiB more than in its first half: %j, %j',
  (slowestMs, memory, excesses) => {
    expect(excessesOf({ slowestMs, memory })).toEqual(excesses);
  },
);
