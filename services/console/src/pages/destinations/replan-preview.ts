import { type Api, dataOf } from '../../api/client.ts';
import { textOf } from '../../api/optional.ts';
import type { DestinationRef } from './destination-api.ts';

/** The changes that a replan would make to one association. */
export interface ReplanChange {
  /** `<accessor>/<secret_name>` */
  association: string;
  create: string[];
  remove: string[];
  /** Why it would be left as it is. */
  refused?: string;
}

export interface ReplanPreview {
  changes: ReplanChange[];
  /** Whether there are more associations than were looked at. */
  isCut: boolean;
}

interface PreviewPage {
  changes: Record<string, { create: Name[]; remove: Name[] }>;
  refused: Record<string, string>;
  next?: unknown;
}
interface Name {
  external_name: string;
}

const pageSize = 500;
/** Maximum number of pages that are read: enough to see what a template does, with a bounded number of requests. */
const maxPages = 10;

/** Asks page by page what a replan would change; `onProgress` receives the number of associations that were looked at. */
export async function previewReplan(
  api: Api,
  path: DestinationRef,
  onProgress: (associations: number) => void,
): Promise<ReplanPreview> {
  const changes: ReplanChange[] = [];
  let after: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const body = { dry_run: true, limit: pageSize, ...(after && { after }) };
    const answer = await api.POST('/v1/sys/sync/destinations/{type}/{name}/replan', {
      params: { path },
      body,
    });
    const read = dataOf(answer) as unknown as PreviewPage;
    changes.push(...changesOf(read));
    onProgress((page + 1) * pageSize);
    after = textOf(read.next);
    if (after === undefined) return { changes, isCut: false };
  }
  return { changes, isCut: true };
}

const changesOf = ({ changes, refused }: PreviewPage): ReplanChange[] => [
  ...Object.entries(refused).map(([association, reason]) => ({
    association,
    create: [],
    remove: [],
    refused: reason,
  })),
  ...Object.entries(changes).map(([association, { create, remove }]) => ({
    association,
    create: create.map(({ external_name }) => external_name),
    remove: remove.map(({ external_name }) => external_name),
  })),
];
