let formattedMs = -1;
let formatted = '';

/**
 * The field `time` of a line, with the comma before it. Formatting a time takes longer than the rest of a line, so lines of the
 * same millisecond share it.
 */
export function timeField(): string {
  const now = Date.now();
  if (now !== formattedMs) {
    formattedMs = now;
    formatted = `,"time":"${new Date(now).toISOString()}"`;
  }
  return formatted;
}
