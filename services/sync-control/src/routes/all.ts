import type { Endpoint } from '@secrets/http';
import type { OwnInstallation } from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import type { EventFeed } from '../events/event-feed.ts';
import { associatedSecretEndpoints } from './associations/associated-secrets.ts';
import { associationEndpoints } from './associations/associations.ts';
import { historyEndpoints } from './associations/history.ts';
import { checkEndpoints } from './destinations/checks.ts';
import { codehostAppEndpoints } from './destinations/codehost-apps.ts';
import { destinationEndpoints } from './destinations/destinations.ts';
import { externalSecretEndpoints } from './destinations/external-secrets.ts';
import { importEndpoints } from './destinations/imports.ts';
import { replanEndpoints } from './destinations/replan.ts';
import { rulePlanEndpoints } from './destinations/rule-plans.ts';
import { ruleEndpoints } from './destinations/rules.ts';
import { statusEndpoints } from './destinations/status.ts';
import { eventEndpoints } from './events.ts';
import { installationEndpoints } from './installation.ts';
import { laneEndpoints } from './lanes.ts';
import { parkedEndpoints } from './parked.ts';
import { syncConfigEndpoints } from './sync-config.ts';

/** Every endpoint of this service. */
export const allEndpoints = (
  context: Context,
  events: EventFeed,
  installation: OwnInstallation,
): Endpoint[] => [
  ...associationEndpoints(context),
  ...associatedSecretEndpoints(context),
  ...destinationEndpoints(context),
  ...externalSecretEndpoints(context),
  ...eventEndpoints(context, events),
  ...historyEndpoints(context),
  ...importEndpoints(context),
  ...installationEndpoints(context, installation),
  ...laneEndpoints(context),
  ...parkedEndpoints(context),
  ...replanEndpoints(context),
  ...ruleEndpoints(context),
  ...rulePlanEndpoints(context),
  ...checkEndpoints(context),
  ...codehostAppEndpoints(context),
  ...statusEndpoints(context),
  ...syncConfigEndpoints(context),
];
