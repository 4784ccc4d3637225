/** A change of the source. */
interface Edit {
  /** Relative to the repository. */
  file: string;
  /** Must occur exactly once. */
  original: string;
  replacement: string;
}

/** A mistake that the run must find. */
export interface Bug {
  name: string;
  /** What goes wrong. */
  about: string;
  /** The command that finds it; default: `run`. */
  foundBy?: 'failover';
  edits: readonly Edit[];
}

const insertedEvent =
  'select s.id, $13::text, m.id is not null from secret s left join matched m on true where (s.watched or m.id is not null)';
const insertedEvents =
  'insert into secrets.outbox (secret_id, traceparent) select id, traceparent from secret where watched';
const savedVersion =
  '  return notifyIfWatched(context, written);\n}\n\n/**\n * Writes the next version of a secret that is unchanged';

/** The deliberate bugs. */
export const bugs: readonly Bug[] = [
  {
    name: 'ack-before-complete',
    about: 'a worker acknowledges the message before its work is complete',
    edits: [
      {
        file: 'libs/sync-worker/src/runtime/sync-worker.ts',
        original: 'return look.success ? handleLook(worker, look.data) : handleEntry(worker, message);',
        replacement: `if (look.success) return handleLook(worker, look.data);
          void handleEntry(worker, message).catch(() => undefined);
          return Promise.resolve('ack');`,
      },
    ],
  },
  {
    name: 'lease-not-checked',
    about: 'a worker claims an entry although another one holds it',
    edits: [
      {
        file: 'libs/sync-entries/src/claims/claim-entries.ts',
        original: 'and (e.lease_until is null or e.lease_until <= now())',
        replacement: '',
      },
    ],
  },
  {
    name: 'fence-ignored',
    about: 'a worker that has lost its lease still records outcomes',
    edits: [
      {
        file: 'libs/sync-entries/src/claims/complete-entries.ts',
        original: 'and e.id = done.id and e.fence = done.fence and',
        replacement: 'and e.id = done.id and',
      },
      {
        file: 'libs/sync-entries/src/claims/complete-entries.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
        original: 'where id = $1 and fence = $2 and ${isLeased}\n      returning id, outcomes',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
        replacement: 'where id = $1 and $2::bigint > 0 and ${isLeased}\n      returning id, outcomes',
      },
    ],
  },
  {
    name: 'fence-alone',
    about: 'a claim is compared by its fence alone, a count that a failover repeats',
    foundBy: 'failover',
    edits: [
      {
        file: 'libs/sync-entries/src/claims/claim-entries.ts',
        original: 'fence = $5,',
        replacement: 'fence = e.fence + 1 + 0 * $5::bigint,',
      },
      {
        file: 'libs/sync-entries/src/claims/complete-entries.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
        original: '((${server} <> ${serverIdentity}) is true)',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
        replacement: '((${server} is null) is true)',
      },
    ],
  },
  {
    name: 'outbox-after-commit',
    about: 'the event of a change is recorded after the commit of the change',
    edits: [
      {
        file: 'services/secrets/src/queries/versions/insert-version.ts',
        original: insertedEvent,
        replacement: `${insertedEvent} and $13::text = 'never'`,
      },
      {
        file: 'services/secrets/src/queries/versions/insert-versions.ts',
        original: insertedEvents,
        replacement: `${insertedEvents} and false`,
      },
      {
        file: 'services/secrets/src/kv/versions/save-version.ts',
        original: savedVersion,
        replacement: `  if (written.watched)
    await context.db.query(
      'insert into secrets.outbox (secret_id) select id from secrets.secrets where mount_id = $1 and path = $2',
      [mount.id, path],
    );
${savedVersion}`,
      },
    ],
  },
  {
    name: 'match-after-commit',
    about: 'that rules may match a new secret is recorded after the commit of its first version',
    edits: [
      {
        file: 'services/secrets/src/queries/versions/insert-version.ts',
        original: insertedEvent,
        replacement: `${insertedEvent} and m.id is null`,
      },
      {
        file: 'services/secrets/src/kv/versions/save-version.ts',
        original: savedVersion,
        replacement: `  if (written.watched)
    await context.db.query(
      'insert into secrets.outbox (secret_id, to_match) select id, true from secrets.secrets where mount_id = $1 and path = $2 and current_version = 1',
      [mount.id, path],
    );
${savedVersion}`,
      },
    ],
  },
  {
    name: 'revocation-cached',
    about: 'a gateway uses a cached token without asking whether it was revoked',
    edits: [
      {
        file: 'libs/access/src/tokens/epoch-cache.ts',
        original: 'if (seen !== changes.epoch) await changes.observe();',
        replacement: '',
      },
    ],
  },
  {
    name: 'event-dropped-unpublished',
    about: 'an event is deleted although RabbitMQ has not confirmed its message',
    edits: [
      {
        file: 'libs/broker/src/relay/publish-batch.ts',
        original: '    await outbox.failed?.(ids);\n    throw error;',
        replacement: '    void error;',
      },
    ],
  },
  {
    name: 'audit-failure-ignored',
    about: 'a request is served although its audit line could not be written',
    edits: [
      {
        file: 'services/gateway/src/audit/audit-trail.ts',
        original: "throw new Problem('unavailable', 'the audit log cannot be written', { cause });",
        replacement: 'void cause;',
      },
    ],
  },
  {
    name: 'cas-ignored',
    about: 'a write is accepted although its writer expected another version',
    edits: [
      {
        file: 'services/secrets/src/queries/versions/insert-version.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
        original: '(${cas} = s.current_version or',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: text of the source
        replacement: '(${cas} is not null or',
      },
    ],
  },
  {
    name: 'repair-without-policy',
    about: 'what somebody else has changed is pushed again although the destination only reports it',
    edits: [
      {
        file: 'services/sync-control/src/queries/destinations/repairs.ts',
        original: "coalesce(d.settings ->> 'drift_policy' = $2, false)",
        replacement: '$2::text is not null',
      },
    ],
  },
  {
    name: 'foreign-repaired',
    about: 'a repair takes over what somebody else has created',
    edits: [
      {
        file: 'libs/sync-entries/src/intents/repair-entries.ts',
        original: "const repairable: readonly Drift[] = ['changed', 'missing'];",
        replacement: "const repairable: readonly Drift[] = ['changed', 'missing', 'foreign'];",
      },
      {
        file: 'libs/sync-entries/src/intents/repair-entries.ts',
        original: 'set repair_of = drift, repaired_at',
        replacement: 'set repair_of = drift, overwrite = true, repaired_at',
      },
    ],
  },
  {
    name: 'value-in-log',
    about: 'a value that cannot be saved is logged',
    edits: [
      {
        file: 'services/secrets/src/kv/versions/save-version.ts',
        original: '    if (problem !== undefined) throw problem;',
        replacement: `    if (problem !== undefined) {
      context.log.warn({ value: value.reveal() }, 'not saved');
      throw problem;
    }`,
      },
    ],
  },
];
