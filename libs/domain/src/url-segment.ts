/**
 * Encodes a text as one segment of the path of a URL. Undefined if it cannot be one: an empty text, and `.` and `..`, which are
 * steps to another path, however they are encoded (https://url.spec.whatwg.org/#path-state).
 */
export const urlSegment = (text: string): string | undefined =>
  /^\.{0,2}$/.test(text) ? undefined : encodeURIComponent(text);
