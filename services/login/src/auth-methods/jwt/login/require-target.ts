import { invalid } from '@secrets/domain';
import { type LoginEndpoint, NoSuchMount } from '../../auth-method.ts';
import type { JwtContext, ReadyJwtTarget } from '../jwt-context.ts';

/**
 * Returns what a login with a role depends on; without a name, with the `default_role`.
 * @throws NoSuchMount, or a problem (`invalid`) if something is missing
 */
export async function requireTarget(
  context: JwtContext,
  at: LoginEndpoint,
  name: string,
): Promise<ReadyJwtTarget> {
  const target = await context.targets(at, name);
  if (target === undefined) throw new NoSuchMount();
  const { config, role, roleName } = target;
  if (config === null) throw invalid('this auth mount is not configured');
  if (name === '' && config.default_role === '')
    throw invalid('role is required: the auth mount has no default_role');
  if (role === null || roleName === null) throw invalid('role: does not exist');
  return { ...target, config, role, roleName };
}
