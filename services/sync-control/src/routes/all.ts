import type { Endpoint } from '@secrets/http';
import type { Context } from '../context.ts';
import { associatedSecretEndpoints } from './associated-secrets.ts';
import { associationEndpoints } from './associations.ts';
import { checkEndpoints } from './checks.ts';
import { codehostAppEndpoints } from './codehost-apps.ts';
import { destinationEndpoints } from './destinations.ts';
import { eventEndpoints } from './events.ts';
import { historyEndpoints } from './history.ts';
import { laneEndpoints } from './lanes.ts';
import { parkedEndpoints } from './parked.ts';
import { replanEndpoints } from './replan.ts';
import { statusEndpoints } from './status.ts';
import { syncConfigEndpoints } from './sync-config.ts';

/** Every endpoint of this service. */
export const allEndpoints = (context: Context): Endpoint[] => [
  ...associationEndpoints(context),
  ...associatedSecretEndpoints(context),
  ...destinationEndpoints(context),
  ...eventEndpoints(context),
  ...historyEndpoints(context),
  ...laneEndpoints(context),
  ...parkedEndpoints(context),
  ...replanEndpoints(context),
  ...checkEndpoints(context),
  ...codehostAppEndpoints(context),
  ...statusEndpoints(context),
  ...syncConfigEndpoints(context),
];
