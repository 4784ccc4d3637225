import type { RowSource } from '@secrets/access';
import { cachedTargets, type LoginTargets as TargetsOf } from '../../targets/login-targets.ts';
import { findLoginTarget, type LoginTarget } from '../queries/login-target.ts';

/** Finds what a login depends on; undefined if no mount of this type has the path. */
export type LoginTargets = TargetsOf<LoginTarget>;

/** Caches mounts, configurations and roles (`cachedTargets`). */
export const loginTargets = (source: RowSource): LoginTargets =>
  cachedTargets(source, (...of) => findLoginTarget(source, ...of));
