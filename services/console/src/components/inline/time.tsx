import { useSyncExternalStore } from 'react';

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
const tickMs = 5_000;

/** A point in time relative to now, with the full time for those who hover, and for screen readers. */
export function Time({ at }: { at: string }) {
  const now = useNow();
  const seconds = (new Date(at).getTime() - now) / 1000;
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return (
    <time dateTime={at} title={new Date(at).toLocaleString('en')}>
      {relative.format(Math.round(seconds / size), unit)}
    </time>
  );
}

const currentTick = (): number => Math.ceil(Date.now() / tickMs) * tickMs;

function onTick(listener: () => void): () => void {
  const timer = setInterval(listener, tickMs);
  return () => clearInterval(timer);
}

/** The time in milliseconds. It is up to a tick ahead, so that nothing that has happened seems to be in the future. */
const useNow = (): number => useSyncExternalStore(onTick, currentTick);

/** A number of seconds in words, such as “3 min 20 s”. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}
