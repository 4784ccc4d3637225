import { flag, integerBetween, invalid } from '@secrets/domain';
import { z } from 'zod';
import type { Health } from './health.ts';

const status = integerBetween(200, 599).optional();

/**
 * The parameters of `sys/health`, of which `traffic` is our own. The statuses of standbys, and whether those count as ready, are
 * accepted and have no effect: there are none.
 * https://developer.hashicorp.com/vault/api-docs/system/health
 */
export const HealthQuery = z.object({
  traffic: flag.optional(),
  activecode: status,
  sealedcode: status,
  uninitcode: status,
  standbycode: status,
  drsecondarycode: status,
  performancestandbycode: status,
  standbyok: z.string().optional(),
  perfstandbyok: z.string().optional(),
});

/**
 * The status of a response. What Vault calls sealed is here an installation that cannot serve: a component is missing; with
 * `traffic`, one without which no secret can be read or written.
 * @throws a problem `invalid`, if a parameter is not what it has to be
 */
export function statusOfHealth(health: Health, query: string): number {
  const { traffic, activecode = 200, sealedcode = 503, uninitcode = 501 } = parse(query);
  if (!health.initialized) return uninitcode;
  return (traffic ? health.serving : health.ready) ? activecode : sealedcode;
}

function parse(query: string): z.infer<typeof HealthQuery> {
  const given = [...new URLSearchParams(query)];
  const parsed = HealthQuery.safeParse(
    Object.fromEntries(
      given.map(([name, value]) => [name, name === 'traffic' && value === '' ? 'true' : value]),
    ),
  );
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(`${String(issue?.path[0])} ${issue?.message}`);
}
