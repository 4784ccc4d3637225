import type { ServerState } from './server-state.ts';

/** Whether a server can take over: problems must be solved first, notes are to be read. */
export interface Judgement {
  problems: string[];
  notes: string[];
}

/** From then on, sync-control takes a promotion for a restored backup, and holds syncing. */
const holdsAfterMinutes = 15;
const minuteMs = 60_000;

/** Judges a server that is to be the primary of an installation. */
export function judgeServer(state: ServerState): Judgement {
  const { isStandby, isReceiving, hasAppliedAll, now, aliveAt } = state;
  const problems: string[] = [];
  const notes: string[] = [];
  if (state.synchronousStandbys !== '')
    problems.push(
      `synchronous_standby_names is ${state.synchronousStandbys}: every write waits for these servers; empty it unless they follow this one`,
    );
  if (state.isReadOnly)
    problems.push('default_transaction_read_only is on: no service will use this server; turn it off');
  if (isStandby && !hasAppliedAll)
    notes.push('it has received more than it has applied: a promotion waits for that');
  if (isStandby && isReceiving)
    notes.push(
      'its primary is connected: end that, and the services that use it, before you promote this one',
    );
  if (aliveAt !== null && now.getTime() - aliveAt.getTime() > holdsAfterMinutes * minuteMs)
    notes.push(
      `sync-control was last seen at ${aliveAt.toISOString()}: syncing is held after a promotion until you confirm the installation`,
    );
  return { problems, notes };
}
