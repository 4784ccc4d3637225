import type { DriftPolicy } from '@secrets/domain';
import type { InspectedEntry, LookOutcome } from '@secrets/sync-entries';
import type { FoundSecret, Look } from '../driver/look.ts';
import type { Conclusion } from './drift-of.ts';

interface Looked {
  look: Look;
  conclusion: Conclusion;
  /** The entry before the look. */
  before: Pick<InspectedEntry, 'status' | 'drift' | 'lastError'>;
  /** Whether the entry was pushed with the settings that its destination has now. */
  hasSettings: boolean;
}

/**
 * Decides what becomes of an entry after a look. One that has drifted waits for the operator, unless the policy is `off`: then
 * only its drift is shown. One that somebody has put right again is `SYNCED`, after it has been pushed if settings were changed
 * meanwhile: a change of settings leaves out what has drifted. One that is contested remains so while it is changed or missing.
 */
export function outcomeOfLook(policy: DriftPolicy, looked: Looked): LookOutcome {
  const { look, conclusion, hasSettings, before } = looked;
  const { status } = before;
  if (conclusion.drift === 'none')
    return {
      ...conclusion,
      status: status === 'SYNCED' || hasSettings ? 'SYNCED' : 'PENDING',
      error: null,
      ...(look.exists && look.remote !== undefined && { remote: look.remote }),
    };
  if (before.drift === 'contested' && conclusion.drift !== 'foreign')
    return { ...conclusion, drift: 'contested', status, error: before.lastError };
  if (policy === 'off' && status === 'SYNCED') return { ...conclusion, status, error: null };
  return { ...conclusion, status: 'CLIENT_SIDE_ERROR', error: driftError(look) };
}

/** The `last_error` of an entry that has drifted. */
function driftError(look: Look): string {
  if (!look.exists) return 'the external secret was deleted by somebody else';
  return look.belongs === 'own' ? changeOf(look) : foreign[look.belongs];
}

const foreign = {
  none: 'the external secret is one that somebody else created; set "overwrite" to take it over',
  other: 'another destination has marked the external secret as its own',
  provider: 'the provider manages the external secret',
};

const changeOf = ({ mark, pushedMark, changedAt }: FoundSecret): string => {
  const when = changedAt === null ? '' : ` on ${minuteOf(changedAt)}`;
  const isVersion = pushedMark !== undefined && pushedMark !== mark && isShown(mark) && isShown(pushedMark);
  return `the external secret was changed by somebody else${when}${isVersion ? ` (version ${mark} instead of ${pushedMark})` : ''}`;
};

const minuteOf = (date: Date): string =>
  `${date.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length).replace('T', ' ')} UTC`;

/** A version is text from outside. */
const isShown = (version: string): boolean => /^[\w-]{1,64}$/.test(version);
