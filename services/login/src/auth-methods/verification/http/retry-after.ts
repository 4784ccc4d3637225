/** Returns the milliseconds that a response asks to wait; undefined if it does not say. */
export function retryAfterMs(
  response: { headers: { get(name: string): string | null | undefined } } | undefined,
  now: number,
): number | undefined {
  const text = response?.headers.get('retry-after')?.trim() ?? '';
  if (text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
