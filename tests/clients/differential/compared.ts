import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../../harness/http.ts';
import { type Json, normalised } from './normalised.ts';

/** Where two responses differ. */
export interface Deviation {
  /** `status`, or the path of a field. */
  at: string;
  ours: Json | undefined;
  theirs: Json | undefined;
}

/** Returns where two responses to the same request differ, after normalisation. */
export function compared(ours: Answer, theirs: Answer): Deviation[] {
  if (ours.status !== theirs.status) return [{ at: 'status', ours: ours.status, theirs: theirs.status }];
  return deviations('', normalised(ours.body), normalised(theirs.body));
}

function deviations(at: string, ours: Json | undefined, theirs: Json | undefined): Deviation[] {
  if (!isObject(ours) || !isObject(theirs))
    return isDeepStrictEqual(ours, theirs) ? [] : [{ at, ours, theirs }];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].flatMap((name) =>
    deviations(at === '' ? name : `${at}.${name}`, ours[name], theirs[name]),
  );
}

const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
