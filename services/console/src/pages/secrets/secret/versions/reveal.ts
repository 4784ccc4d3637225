import { useState } from 'react';
import { useApi } from '../../../../session/session.ts';
import { readValues, type SecretRef } from '../../queries.ts';

interface Place {
  key: string;
  version: number | undefined;
}

/** The one value that is shown. It is nowhere else, and gone when another one is shown or the page is left. */
export interface Reveal {
  /** The text of the value, if it is this one. */
  shown(place: Place): string | undefined;
  isPending(place: Place): boolean;
  /** Why the value could not be read. */
  error(place: Place): unknown;
  show(place: Place): void;
  hide(): void;
}

interface State extends Place {
  text?: string;
  error?: unknown;
}

const isSame = (one: Place | undefined, other: Place) =>
  one?.key === other.key && one.version === other.version;

/** Reads a value when it is requested, and forgets the one before. */
export function useReveal(secret: SecretRef): Reveal {
  const api = useApi();
  const [state, setState] = useState<State>();
  const show = (place: Place) => {
    setState(place);
    const settle = (outcome: Partial<State>) =>
      setState((now) => (isSame(now, place) ? { ...place, ...outcome } : now));
    readValues(api, secret, place.version)
      .then((values) => settle({ text: textOfValue(values[place.key]) }))
      .catch((error: unknown) => settle({ error }));
  };
  const of = (place: Place) => (isSame(state, place) ? state : undefined);
  return {
    shown: (place) => of(place)?.text,
    isPending: (place) => {
      const found = of(place);
      return found !== undefined && found.text === undefined && found.error === undefined;
    },
    error: (place) => of(place)?.error,
    show,
    hide: () => setState(undefined),
  };
}

const textOfValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');
