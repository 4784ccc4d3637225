/** Seconds as hours, minutes and seconds, such as `3h25m19s`; `0s` for none. */
export function durationText(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  const minutePart = hours > 0 || minutes > 0 ? `${minutes}m` : '';
  return `${hours > 0 ? `${hours}h` : ''}${minutePart}${seconds % 60}s`;
}
