/** Rows that a statement counts or looks through without returning them, by the name of its function. */
export const counted: Record<string, number> = {
  // Up to a limit. queueRoom counts once a second, up to queue_capacity.
  countPending: 10_000,
  countAssociations: 1_001,
  countToPush: 1_001,
  countExternalSecrets: 100,
  // A page: of 500, or of 5,000.
  countSomeEvents: 500,
  sweepSomeEvents: 1_000,
  deleteOldEvents: 5_000,
  countToReplan: 1_001,
  countDue: 5_000,
  countRepairable: 1_001,
  countUndecided: 1_001,
  countHeldRepairs: 100,
  // One page of 500, of which only some rows need a new intent: four pages each, looked up by ID.
  pushSomeAgain: 1_000,
  associationsDueToPush: 3 * 400,
  countDestinations: 1_001,
  countAssociatedSecrets: 1_001,
  // Up to a limit, for each status of three destinations, and in each of three priorities of two of them.
  countByStatus: 3 * 1_001,
  countByDrift: 2 * 1_001,
  readQueues: 3 * 2 * 1_001,
  // Up to a limit, for each of three states of a type.
  readTypeQueues: 3 * 3 * 1_001,
  listHeldRemovals: 1_001,
  // At most 1,001 destinations of each secret that is waited for: eight pages each, looked up by key.
  listPlacesToWaitFor: 4 * 1_001,
  // One look-up by key for each of the names, which are at most 2,000; four pages each. The case has 100.
  readRemembered: 2 * 100,
  // The sum of what is marked in one destination. Once that is too much, removals are held, and it is no longer summed for each.
  countMarked: 25_000,
  // Every destination, once an operator has confirmed the installation.
  inspectAll: 10_000,
  // All entries of one destination: the share of them that their sources may remove. Once an hour, after 50 removals.
  countEntries: 300_000,
  // At the start of a process that is the only one: what it had admitted, up to the windows of all lanes.
  reviveAll: 1_000,
  // Up to the limits on rules, when one is written; and up to a limit, when one is read.
  countRules: 11_000,
  countHolds: 1_000,
  countRefusals: 1_000,
  // Up to a limit, of rules with an error, and of refusals.
  readRuleHealth: 20_000,
  // One page of 200, looked up by ID.
  listUnheld: 200,
  // The destinations of one account.
  isThrottledElsewhere: 101,
  // A token has at most 63 ancestors. An identity of the seed belongs to 200 groups, the most that a JWT lists: a row
  // in each of two tables.
  readServiceToken: 64 + 2 * 200,
  readBatchToken: 64,
  // Up to a limit: what has changed since a gateway has last looked.
  readChanges: 1_000,
  // Up to the maximum number of rate limits, when one is written.
  upsertRateLimit: 1_000,
  readTemplateValues: 2 * 200,
  findTokenByAccessor: 64,
  updateTokenExpiry: 64,
  // Of the roles of one mount: it only looks for a few examples.
  listCheckScopes: 200,
  // Foreign keys: mounts and destinations by their namespace, which is the same for all of them here.
  deleteNamespaceRow: 12_000,
};

/** Files with statements that no case executes, and why. */
export const notExecuted: Record<string, string> = {
  'services/gateway/src/local/health.ts': 'the readiness check reads a table with one row',
  'services/login/src/app.ts': 'the readiness check reads a table with one row',
  'services/setup/src/standby/server-state.ts': 'the check of a standby reads a table with one row',
};
