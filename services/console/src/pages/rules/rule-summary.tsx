import { Link } from 'wouter';
import { count } from '../../components/inline/count.ts';
import { StatusBadge } from '../../components/inline/status-badge.tsx';
import { Time } from '../../components/inline/time.tsx';
import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import { ofSecretAddress } from '../associations/addresses.ts';
import type { SecretRef } from '../associations/association-api.ts';
import type { Refusal, Rule } from './rule-api.ts';
import '../destinations/destinations.css';
import '../../components/notice.css';

/** A rule with its progress, and the secrets that it could not associate. */
export const RuleSummary = ({ rule }: { rule: Rule }) => (
  <>
    <Progress rule={rule} />
    <section className="card" aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <dl className="settings">
        {settingsOf(rule).map(([name, value]) => (
          <div key={name} className="setting">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div className="setting">
          <dt>Owner</dt>
          <dd>
            <Owner rule={rule} />
          </dd>
        </div>
      </dl>
    </section>
    <Refusals rule={rule} />
  </>
);

const sentences: Readonly<Record<string, string>> = {
  running: 'It goes through the mount.',
  up_to_date: 'It has gone through the mount. Secrets that begin to match are associated within a second.',
  deleting: 'It is being deleted: its associations end, or stay as ones that are held by hand.',
};

function Progress({ rule }: { rule: Rule }) {
  const { error, last_run_at: lastRun } = rule;
  return (
    <>
      {error && (
        <div className="notice notice-bad" role="alert">
          <p>
            <strong>It does not associate new secrets:</strong> {error}
          </p>
          <p>What is associated stays.</p>
        </div>
      )}
      <div role="status">
        <p>
          <StatusBadge status={rule.state} /> {sentences[rule.state]}
        </p>
        <p>
          {rule.matched !== null && `${count(rule.matched, 'secret')} matched, `}
          {rule.associated.toLocaleString('en')} associated, {rule.refused.toLocaleString('en')} refused.
          {lastRun && (
            <span className="soft">
              {' '}
              The last run ended <Time at={lastRun} />.
            </span>
          )}
        </p>
      </div>
    </>
  );
}

const settingsOf = ({ mount, path, exclude, metadata_match: metadata }: Rule): [string, string][] => [
  ['Mount', mount],
  ['Path', path],
  ...(exclude.length > 0 ? [['Excluded', exclude.join(', ')] as [string, string]] : []),
  ...Object.entries(metadata).map(([key, value]): [string, string] => [`Metadata ${key}`, value]),
];

function Owner({ rule: { owner } }: { rule: Rule }) {
  const { type, entity_id: entity, display_name: name, since } = owner;
  if (type === 'unknown') return <>unknown: somebody else has changed the rule. Write it again.</>;
  return (
    <>
      {type} {entity && <code>{entity}</code>} {name}
      {since && (
        <span className="soft">
          {' '}
          since <Time at={since} />
        </span>
      )}
      <div className="soft">Secrets are associated with its rights at that time.</div>
    </>
  );
}

type Refused = Refusal & SecretRef;

const helper = columnsOf<Refused>();
const columns = helper.columns([
  helper.accessor('secret_name', {
    header: 'Secret',
    cell: ({ row }) => (
      <Link href={ofSecretAddress(row.original)}>
        {row.original.mount}/{row.original.secret_name}
      </Link>
    ),
  }),
  helper.accessor('reason', { header: 'Reason' }),
  helper.accessor('refused_at', { header: 'Refused', cell: ({ getValue }) => <Time at={getValue()} /> }),
]);

const Refusals = ({ rule }: { rule: Rule }) => (
  <section className="stack" aria-labelledby="refused">
    <h2 id="refused">Refused secrets</h2>
    {rule.refused > rule.refusals.length && (
      <p>
        The first {rule.refusals.length.toLocaleString('en')} of {rule.refused.toLocaleString('en')}.
      </p>
    )}
    <DataTable
      label="The first refused secrets"
      columns={columns}
      rows={rule.refusals.map((refusal) => ({ ...refusal, mount: rule.mount }))}
      rowId={({ secret_name }) => secret_name}
      empty="None. A secret whose name is taken, or that the owner may not read, would be listed here."
    />
    {rule.refusals.length > 0 && (
      <p className="soft">
        They are tried again after a minute, then after longer pauses up to six hours, and when they are
        written.
      </p>
    )}
  </section>
);
