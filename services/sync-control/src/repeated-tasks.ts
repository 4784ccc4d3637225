import { randomUUID } from 'node:crypto';
import { every, type Repeated } from '@secrets/background';
import type { Broker } from '@secrets/broker';
import { watchClock } from '@secrets/clock';
import { destinationTypes } from '@secrets/destinations';
import { reviveStuckEntries } from '@secrets/sync-entries';
import type { Metrics } from '@secrets/telemetry';
import { removeApproved } from './changes/approved-removals.ts';
import { FreedNames } from './changes/freed-names.ts';
import type { FollowContext } from './changes/on-secret-change.ts';
import { reconcile } from './changes/reconcile.ts';
import { settleEvents } from './changes/removal-brake.ts';
import { defaultLost, installationOf, type SyncControlConfig } from './config.ts';
import { advanceDestinations } from './destinations/background/advance-destinations.ts';
import { advanceInspections } from './destinations/background/looks/advance-inspections.ts';
import { advanceRepairs } from './destinations/background/repairs/advance-repairs.ts';
import { advanceReplan } from './destinations/background/replan.ts';
import { advanceImports } from './destinations/calls/import/background/advance-imports.ts';
import { AwaitedValues } from './destinations/calls/import/background/awaited-values.ts';
import { sweepChecks } from './destinations/calls/sweep-checks.ts';
import { advanceReconnects } from './destinations/codehost-apps/reconnect-users.ts';
import { forgetDeleted } from './destinations/forget-deleted.ts';
import { advanceRules } from './destinations/rules/background/advance-rules.ts';
import { retryRefusals } from './destinations/rules/background/match-changed.ts';
import { countEvents } from './events/count-events.ts';
import type { EventFeed } from './events/event-feed.ts';
import { EntryCounter } from './metrics/entry-counter.ts';
import { measureDeadLetters, measurePauses, measureQueue } from './metrics/measure-queue.ts';
import { measureRules } from './metrics/measure-rules.ts';
import type { SyncMetrics } from './metrics/sync-metrics.ts';
import { countHeld } from './queries/changes/removal-brakes.ts';
import { deadlines } from './queries/deadlines.ts';
import { countHeldRepairs } from './queries/destinations/repairs.ts';
import { InstallationWatch } from './queue/keep-installation.ts';
import { LostEntries } from './queue/lost-entries.ts';

interface Parts {
  following: FollowContext;
  events: EventFeed;
  broker: Broker;
  observed: SyncMetrics;
  /** Where a task declares metrics of its own. */
  metrics: Metrics;
}

type Task = (parts: Parts, config: SyncControlConfig) => Repeated;

const defaultPollSeconds = 1;

const checkSweepSeconds = 30;

/** They are remembered for two years. */
const forgetSeconds = 3_600;

/** Prometheus usually scrapes every 15 s. */
const measureSeconds = 10;

/** Maximum seconds between two attempts to start or continue a round of the reconciliation. */
const reconcilePollSeconds = 2;

/** Maximum seconds until an event reaches its followers. */
const followSeconds = 0.5;

/** Less than proxies usually wait for data. */
const keepAliveSeconds = 15;

/** The tasks that make statements: each has a connection to the database. */
export const statementTasks: readonly Task[] = [
  ({ following: { context, log }, broker, observed }, { lost = defaultLost }) => {
    const { db } = context;
    const { afterSeconds, sweepSeconds } = lost;
    const types = Object.keys(destinationTypes);
    const lostEntries = new LostEntries({ db, broker, log, destinationTypes: types, afterSeconds });
    return every(sweepSeconds, 'lost announcements', log, async () => {
      observed.found('lost_announcements', await lostEntries.revive());
      observed.found('stuck_entries', await reviveStuckEntries(db));
    });
  },
  ({ following }, { pollSeconds = defaultPollSeconds }) => {
    const { context, log } = following;
    const replan = (id: string) => advanceReplan(following, id);
    return every(pollSeconds, 'destinations', log, (isStopping) =>
      advanceDestinations({ db: context.db, log, replan }, isStopping),
    );
  },
  ({ following: { context, log, brake }, observed }, { pollSeconds = defaultPollSeconds }) =>
    every(pollSeconds, 'looks', log, async (isStopping) => {
      await advanceRepairs({ db: context.db, brake }, isStopping);
      observed.heldRepairs.set(await countHeldRepairs(context.db));
      await advanceInspections(context, isStopping);
    }),
  ({ following: { context, log } }, { pollSeconds = defaultPollSeconds }) =>
    every(pollSeconds, 'imports', log, (isStopping) => advanceImports({ context, log }, isStopping)),
  ({ following }, { pollSeconds = defaultPollSeconds }) =>
    every(pollSeconds, 'rules', following.log, (isStopping) => advanceRules(following, isStopping)),
  ({ following }, { pollSeconds = defaultPollSeconds }) =>
    every(pollSeconds, 'refused secrets', following.log, () => retryRefusals(following, randomUUID())),
  ({ following: { context, log } }, { pollSeconds = defaultPollSeconds }) => {
    const awaited = new AwaitedValues(context, log);
    return every(pollSeconds, 'awaited values', log, () => awaited.advance());
  },
  ({ following: { context, log } }) =>
    every(1, 'code-host applications', log, (isStopping) =>
      advanceReconnects({ db: context.db, log, queue: context.queue }, isStopping),
    ),
  ({ following: { context, log }, broker, observed }) =>
    every(checkSweepSeconds, 'checks', log, async () =>
      observed.found('probes', await sweepChecks({ db: context.db, broker, log })),
    ),
  ({ following: { context, log } }) =>
    every(forgetSeconds, 'deleted destinations', log, (isStopping) => forgetDeleted(context.db, isStopping)),
  ({ following }, { pollSeconds = defaultPollSeconds }) => {
    const freedNames = new FreedNames(following);
    return every(pollSeconds, 'freed names', following.log, () => freedNames.advance());
  },
  ({ following }, { pollSeconds = defaultPollSeconds }) =>
    every(pollSeconds, 'approved removals', following.log, async (isStopping) => {
      await settleEvents(following.context.db, following.brake, isStopping);
      await removeApproved(following, isStopping);
    }),
  ({ following, observed }, { settings: { RECONCILE_SECONDS: reconcileSeconds } }) =>
    every(
      Math.min(reconcileSeconds, reconcilePollSeconds),
      'reconcile',
      following.log,
      async (isStopping) => {
        observed.found('reconciliation', await reconcile(following, reconcileSeconds, isStopping));
        observed.heldRemovals.set(await countHeld(following.context.db));
      },
    ),
  ({ following: { context, log }, observed }) =>
    every(measureSeconds, 'queue metrics', log, async () => {
      await measureQueue(context.db, observed);
      await measurePauses(context.db, observed);
      await measureRules(context.db, observed);
    }),
  ({ following: { log }, events }) => every(followSeconds, 'events', log, () => events.advance()),
  ({ following: { context, log } }, { pollSeconds = defaultPollSeconds }) =>
    every(pollSeconds, 'event counts', log, (isStopping) => countEvents(context.db, isStopping)),
  ({ following: { context, log }, observed }, { pollSeconds = defaultPollSeconds }) => {
    const census = new EntryCounter(context.db, observed);
    return every(pollSeconds, 'entry census', log, () => census.advance());
  },
  ({ following: { context, log }, observed }, config) => {
    const watch = new InstallationWatch(context.db, installationOf(config), { log, observed });
    return every(1, 'installation', log, () => watch.look());
  },
  ({ following: { context, log }, metrics }) =>
    watchClock({ db: context.db, schema: 'sync', deadlines, log, metrics }),
];

const otherTasks: readonly Task[] = [
  ({ following: { log }, broker, observed }) =>
    every(measureSeconds, 'dead letter metrics', log, () => measureDeadLetters(broker, observed)),
  ({ following: { log }, events }) =>
    every(keepAliveSeconds, 'streams of events', log, async () => events.keepAlive()),
];

export const repeated = (parts: Parts, config: SyncControlConfig): Repeated[] =>
  [...statementTasks, ...otherTasks].map((task) => task(parts, config));
