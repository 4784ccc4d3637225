/** Keeps the answer of a question for a while, and lets all who ask meanwhile share one asking. A failure is not kept. */
export function keptFor<T>(milliseconds: number, ask: () => Promise<T>): () => Promise<T> {
  let kept: { answer: Promise<T>; until: number } | undefined;
  return () => {
    if (kept !== undefined && Date.now() < kept.until) return kept.answer;
    const asked = { answer: ask(), until: Number.POSITIVE_INFINITY };
    kept = asked;
    asked.answer.then(
      () => {
        asked.until = Date.now() + milliseconds;
      },
      () => {
        asked.until = 0;
      },
    );
    return asked.answer;
  };
}
