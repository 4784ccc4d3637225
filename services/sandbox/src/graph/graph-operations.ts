import { z } from 'zod';
import { type ApplicationPassword, hintOf } from '../directory/application/application-passwords.ts';
import type { Directory } from '../directory/directory.ts';
import { badRequest, GraphError, notFound } from './graph-error.ts';

const url = 'https://graph.microsoft.com/v1.0/$metadata';

/** The context of the request that an operation handles. */
export interface GraphContext {
  directory: Directory;
  /** How old the state is that reads return. */
  staleMs: number;
  /** Object ID of the caller's service principal. */
  caller: string;
}

/** The key by which a request names an application. */
export type ApplicationKey = { appId: string } | { objectId: string };

const reading = ['Application.Read.All', 'Application.ReadWrite.OwnedBy', 'Application.ReadWrite.All'];
const writing = ['Application.ReadWrite.OwnedBy', 'Application.ReadWrite.All'];

export function getApplication(context: GraphContext, key: ApplicationKey): object {
  requirePermission(context, reading);
  requireApplication(context, key);
  return { '@odata.context': `${url}#applications/$entity`, ...applicationContent(context) };
}

/** @param filter the value of `$filter`; without it, all applications are listed */
export function listApplications(context: GraphContext, filter: string | undefined): object {
  requirePermission(context, reading);
  const appId = filter === undefined ? undefined : appIdIn(filter);
  const isFound = appId === undefined || isApplication(context, { appId });
  return { '@odata.context': `${url}#applications`, value: isFound ? [applicationContent(context)] : [] };
}

const dateTime = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const NewPassword = z.object({
  passwordCredential: z
    .object({
      displayName: z.string().max(256).nullish(),
      startDateTime: dateTime.nullish(),
      endDateTime: dateTime.nullish(),
    })
    .nullish(),
});

/** https://learn.microsoft.com/graph/api/application-addpassword */
export function addPassword(context: GraphContext, key: ApplicationKey, body: unknown): object {
  requirePermission(context, writing);
  requireApplication(context, key);
  const parsed = NewPassword.safeParse(body ?? {});
  if (!parsed.success)
    throw badRequest('Invalid value specified for property of resource PasswordCredential.');
  const { displayName, startDateTime, endDateTime } = parsed.data.passwordCredential ?? {};
  const startMs = startDateTime ?? undefined;
  const endMs = endDateTime ?? undefined;
  if (startMs !== undefined && endMs !== undefined && endMs <= startMs)
    throw badRequest('Credential lifetime has an invalid value: the end date is not after the start date.');
  const { passwords, settings } = context.directory;
  const password = passwords.add({ displayName, startMs, endMs }, settings.passwordDelayMs);
  return {
    '@odata.context': `${url}#microsoft.graph.passwordCredential`,
    ...passwordContent(password),
    secretText: password.secretText,
  };
}

const Removal = z.object({ keyId: z.guid() });

/** https://learn.microsoft.com/graph/api/application-removepassword */
export function removePassword(context: GraphContext, key: ApplicationKey, body: unknown): undefined {
  requirePermission(context, writing);
  requireApplication(context, key);
  const removal = Removal.safeParse(body);
  if (!removal.success)
    throw badRequest('Invalid value specified for property keyId of resource PasswordCredential.');
  const { passwords, settings } = context.directory;
  if (!passwords.remove(removal.data.keyId, settings.removalDelayMs))
    throw badRequest('No password credential found with keyId.');
  return undefined;
}

function requirePermission({ directory, caller }: GraphContext, sufficient: readonly string[]): void {
  const { application, settings } = directory;
  const isPermitted =
    caller === application.oid && settings.graphPermissions.some((one) => sufficient.includes(one));
  if (!isPermitted)
    throw new GraphError(
      403,
      'Authorization_RequestDenied',
      'Insufficient privileges to complete the operation.',
    );
}

function requireApplication(context: GraphContext, key: ApplicationKey): void {
  if (!isApplication(context, key)) throw notFound('appId' in key ? key.appId : key.objectId);
}

function isApplication({ directory: { application } }: GraphContext, key: ApplicationKey): boolean {
  return 'appId' in key
    ? key.appId.toLowerCase() === application.clientId
    : key.objectId.toLowerCase() === application.objectId;
}

function appIdIn(filter: string): string {
  const [, appId] = /^\s*appId\s+eq\s+'([^']*)'\s*$/.exec(filter) ?? [];
  if (appId === undefined)
    throw new GraphError(400, 'Request_UnsupportedQuery', 'The sandbox supports only filters by appId.');
  return appId;
}

function applicationContent({ directory, staleMs }: GraphContext): object {
  const { objectId, clientId, displayName } = directory.application;
  return {
    id: objectId,
    appId: clientId,
    displayName,
    signInAudience: 'AzureADMyOrg',
    keyCredentials: [],
    passwordCredentials: directory.passwords.list(staleMs).map(passwordContent),
  };
}

/** A password as reads return it, without its text. */
function passwordContent(password: ApplicationPassword): object {
  const { keyId, displayName, startMs, endMs } = password;
  return {
    customKeyIdentifier: null,
    displayName,
    endDateTime: new Date(endMs).toISOString(),
    hint: hintOf(password),
    keyId,
    secretText: null,
    startDateTime: new Date(startMs).toISOString(),
  };
}
