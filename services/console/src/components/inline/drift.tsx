import { textOf } from '../../api/optional.ts';
import { StatusBadge } from './status-badge.tsx';
import { Time } from './time.tsx';

/** A sentence for each kind of drift (docs/conventions/drift.md#states). */
const sentences: Readonly<Record<string, string>> = {
  changed: 'Somebody else has changed it.',
  missing: 'Somebody else has deleted it.',
  foreign: 'It belongs to somebody else.',
  contested: 'Somebody else undoes each repair.',
};

/** The kinds of drift, without `none`. */
export const driftKinds: readonly string[] = Object.keys(sentences);

const evidences: Readonly<Record<string, string>> = {
  value: 'the value was compared',
  mark: 'the version or the time of the last write was compared',
};

interface DriftProps {
  /** The outcome of the last look at an external secret. The fields are null before the first one. */
  seen: {
    drift: unknown;
    drift_seen_at: unknown;
    verified_at: unknown;
    evidence: unknown;
    last_error: unknown;
  };
}

/** Shows the last look at an external secret: its result, its time, and the evidence. */
export function Drift({ seen }: DriftProps) {
  const verifiedAt = textOf(seen.verified_at);
  const foundAt = textOf(seen.drift_seen_at);
  const evidence = evidences[textOf(seen.evidence) ?? ''];
  const kind = textOf(seen.drift);
  if (verifiedAt === undefined && kind === undefined) return <span className="soft">not verified yet</span>;
  const hasDrifted = kind !== undefined && kind !== 'none';
  return (
    <>
      {hasDrifted ? <StatusBadge status={kind} /> : 'as it was pushed'}
      {hasDrifted && textOf(seen.last_error) === undefined && <div>{sentences[kind]}</div>}
      {hasDrifted && foundAt && (
        <div className="soft">
          found <Time at={foundAt} />
        </div>
      )}
      {verifiedAt && (
        <div className="soft">
          verified <Time at={verifiedAt} />
          {evidence && `: ${evidence}`}
        </div>
      )}
    </>
  );
}

/** The numbers of external secrets by kind of drift, in a field of the API that is absent where there are none. */
export const driftCounts = (drifted: unknown): readonly [string, number][] =>
  Object.entries((drifted ?? {}) as Record<string, number>).filter(([, number]) => number > 0);

/** A badge for each kind of drift, with the number of its external secrets. */
export const DriftCounts = ({ counts }: { counts: ReturnType<typeof driftCounts> }) => (
  <span className="row">
    {counts.map(([kind, number]) => (
      <StatusBadge key={kind} status={kind} count={number} />
    ))}
  </span>
);
