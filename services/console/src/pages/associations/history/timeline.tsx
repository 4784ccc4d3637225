import { textOf } from '../../../api/optional.ts';
import { count } from '../../../components/inline/count.ts';
import { StatusBadge } from '../../../components/inline/status-badge.tsx';
import { Time } from '../../../components/inline/time.tsx';
import type { History } from '../association-api.ts';
import './timeline.css';

type External = History['external_secrets'][number];
type Outcome = External['outcomes'][number];

const verbs: Readonly<Record<string, string>> = { put: 'write', remove: 'removal' };

/** The outcomes of an external secret, the newest first. Identical failures in a row are one of them. */
export const Timeline = ({ external }: { external: External }) => (
  <section className="card" aria-label={`History of ${external.external_name}`}>
    <h2>
      <code>{external.external_name}</code> <StatusBadge status={external.sync_status} />
    </h2>
    {external.sub_key && <p className="soft">key {external.sub_key}</p>}
    {external.outcomes.length === 0 ? (
      <p className="soft">No attempt has been made yet.</p>
    ) : (
      <ol className="timeline">
        {external.outcomes.map((outcome) => (
          <li key={`${outcome.at} ${outcome.action}`}>
            <OutcomeText outcome={outcome} />
          </li>
        ))}
      </ol>
    )}
  </section>
);

function OutcomeText({ outcome }: { outcome: Outcome }) {
  const { action, sync_status, at, since, attempts, fault, error } = outcome;
  return (
    <>
      <StatusBadge status={sync_status} /> {verbs[action] ?? action} <Time at={at} />
      {attempts > 1 && (
        <span className="soft">
          , {count(attempts, 'attempt')} since <Time at={since} />
        </span>
      )}
      {textOf(error) && (
        <div>
          {textOf(error)} {textOf(fault) && <code>{textOf(fault)}</code>}
        </div>
      )}
    </>
  );
}
