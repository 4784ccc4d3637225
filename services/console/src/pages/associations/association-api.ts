import { useQuery } from '@tanstack/react-query';
import { type Api, dataOf, ifPresent } from '../../api/client.ts';
import { textOf } from '../../api/optional.ts';
import { useRefreshMs } from '../../live/live-updates.tsx';
import { useApi } from '../../session/session.ts';
import type { DestinationRef } from '../destinations/destination-api.ts';

/** A secret of this service. */
export interface SecretRef {
  mount: string;
  secret_name: string;
}

export const secretId = ({ mount, secret_name }: SecretRef): string => `${mount}\n${secret_name}`;

const pageSize = 50;

/** Statuses and kinds of drift, each separated by commas; '' for all. */
export interface AssociationFilter {
  status: string;
  drift: string;
}

const readOfDestination = async (
  api: Api,
  path: DestinationRef,
  { status, drift }: AssociationFilter,
  after = '',
) => {
  const query = {
    limit: pageSize,
    ...(after && { after }),
    ...(status && { status }),
    ...(drift && { drift }),
  };
  const answer = await ifPresent(
    api.GET('/v1/sys/sync/destinations/{type}/{name}/associations', { params: { path, query } }),
  );
  if (answer === undefined) return { objects: [], next: undefined };
  const data = dataOf(answer);
  const next = textOf((data as { next?: unknown }).next);
  return { objects: Object.values(data.associated_secrets), next };
};

export type AssociatedSecret = Awaited<ReturnType<typeof readOfDestination>>['objects'][number];

/** A page of the association objects of a destination that the filter leaves. */
export function useOfDestination(
  ref: DestinationRef,
  filter: AssociationFilter,
  after: string | undefined,
  enabled: boolean,
) {
  const api = useApi();
  return useQuery({
    queryKey: ['sync', 'associations', 'of-destination', ref.type, ref.name, filter, after],
    queryFn: () => readOfDestination(api, ref, filter, after),
    placeholderData: (previous) => previous,
    refetchInterval: useRefreshMs(),
    enabled,
  });
}

const readHistory = async (api: Api, path: DestinationRef, secret: SecretRef, after = '') => {
  const query = { ...secret, ...(after && { after }) };
  const answer = await api.GET('/v1/sys/sync/destinations/{type}/{name}/associations/history', {
    params: { path, query },
  });
  const data = dataOf(answer);
  return { ...data, next: textOf((data as { next?: unknown }).next) };
};

export type History = Awaited<ReturnType<typeof readHistory>>;

/** The last outcomes of the external secrets of an association, a hundred of them on a page. */
export function useHistory(ref: DestinationRef, secret: SecretRef, after?: string) {
  const api = useApi();
  const { type, name } = ref;
  return useQuery({
    queryKey: ['sync', 'associations', 'history', type, name, secret.mount, secret.secret_name, after],
    queryFn: () => readHistory(api, ref, secret, after),
    refetchInterval: useRefreshMs(),
  });
}

const readOfSecret = async (api: Api, secret: SecretRef, after = '') => {
  const query = { ...secret, limit: pageSize, ...(after && { after }) };
  const answer = await ifPresent(api.GET('/v1/sys/sync/associations/destinations', { params: { query } }));
  if (answer === undefined) return { destinations: [], next: undefined };
  const data = dataOf(answer);
  const next = textOf((data as { next?: unknown }).next);
  return { destinations: Object.values(data.associated_destinations), next };
};

export type AssociatedDestination = Awaited<ReturnType<typeof readOfSecret>>['destinations'][number];

/** A page of the destinations that a secret is associated with, and its status there. */
export function useOfSecret(secret: SecretRef, after?: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['sync', 'associations', 'of-secret', secret.mount, secret.secret_name, after],
    queryFn: () => readOfSecret(api, secret, after),
    placeholderData: (previous) => previous,
    refetchInterval: useRefreshMs(),
  });
}

/** Where a page of the associated secrets begins. */
export interface SecretCursor {
  after_mount: string;
  after_secret: string;
}

const readSecrets = async (api: Api, after: SecretCursor | undefined) => {
  const query = { list: 'true' as const, limit: pageSize + 1, ...after };
  const answer = await ifPresent(api.GET('/v1/sys/sync/associations', { params: { query } }));
  if (answer === undefined) return { secrets: [], total: 0, next: undefined };
  const { key_info, total_secrets: total } = dataOf(answer);
  const secrets = Object.values(key_info)
    .flat()
    .map(({ mount, secret_path }) => ({ mount: mount.replace(/\/$/, ''), secret_name: secret_path }));
  const last = secrets[pageSize - 1];
  const next =
    secrets.length > pageSize && last
      ? { after_mount: `${last.mount}/`, after_secret: last.secret_name }
      : undefined;
  return { secrets: secrets.slice(0, pageSize), total, next };
};

/** A page of the secrets that are associated with a destination. */
export function useAssociatedSecrets(after: SecretCursor | undefined) {
  const api = useApi();
  return useQuery({
    queryKey: ['sync', 'associations', 'list', after],
    queryFn: () => readSecrets(api, after),
    placeholderData: (previous) => previous,
    refetchInterval: useRefreshMs(),
  });
}
