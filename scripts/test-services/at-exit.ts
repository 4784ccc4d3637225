/** One listener runs all of them: Node takes more than ten listeners of an event for a leak. */
const works = new Set<() => void>();

/** Runs `work` when this process exits, unless the returned function is called before that. `work` must be synchronous. */
export function atExit(work: () => void): () => void {
  if (works.size === 0) process.on('exit', runAll);
  works.add(work);
  return () => {
    works.delete(work);
    if (works.size === 0) process.off('exit', runAll);
  };
}

function runAll(): void {
  for (const work of works) work();
}
