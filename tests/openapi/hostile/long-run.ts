/** A shorter run shares its machine with other tests, and ends before the caches are full. */
export const boundedFrom = 10_000;

const maxMs = 2_000;
/** Mebibytes that the second half of a run may need in addition to the first one. */
const maxGrowth = 64;

interface LongRun {
  slowestMs: number;
  /** The service's memory in MiB, in the order of time. */
  memory: readonly number[];
}

/** The bounds that a long run of requests has exceeded. */
export function excessesOf({ slowestMs, memory }: LongRun): string[] {
  const middle = Math.ceil(memory.length / 2);
  const [before, after] = [memory.slice(0, middle), memory.slice(middle)].map((half) => Math.max(...half));
  return [
    ...(slowestMs > maxMs ? [`a response took ${Math.round(slowestMs)} ms, more than ${maxMs}`] : []),
    ...(after! > before! + maxGrowth ? [`the memory grew from ${before} to ${after} MiB`] : []),
  ];
}
