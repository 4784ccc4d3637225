import { useState } from 'react';
import { PageButtons, usePages } from '../../../../components/lists/pages.tsx';
import { usePermissions } from '../../../../session/permissions.ts';
import type { SecretMetadata, SecretRef } from '../../queries.ts';
import type { SecretPaths } from '../secret-paths.ts';
import { SideBySide } from './side-by-side.tsx';
import { VersionActions } from './version-actions.tsx';
import { type Version, versionsOf } from './version-state.ts';
import { VersionTable } from './version-table.tsx';

interface VersionsProps {
  secret: SecretRef;
  paths: SecretPaths;
  metadata: SecretMetadata;
}

const perPage = 20;

/** The versions of a secret: what to do with those that are chosen, and the keys of two of them side by side. */
export function Versions({ secret, paths, metadata }: VersionsProps) {
  const versions = versionsOf(metadata, Date.now());
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const pages = usePages<number>();
  const start = pages.after ?? 0;
  const shown = versions.slice(start, start + perPage);
  const next = start + perPage < versions.length ? start + perPage : undefined;
  return (
    <section aria-label="Versions">
      <h2>Versions</h2>
      <VersionTable
        versions={shown}
        chosen={chosen}
        onChoose={setChosen}
        footer={<PageButtons pages={pages} next={next} />}
      />
      <VersionActions
        secret={secret}
        paths={paths}
        versions={versions.filter(({ number }) => chosen.includes(number))}
        onDone={() => setChosen([])}
      />
      <Values secret={secret} paths={paths} versions={toShow(versions, chosen)} />
    </section>
  );
}

/** The two newest of the chosen versions or, if none is chosen, of all that are readable; the older one first. */
function toShow(versions: readonly Version[], chosen: readonly number[]): Version[] {
  const readable = versions.filter(({ state }) => state === 'readable');
  const wanted = readable.filter(({ number }) => chosen.length === 0 || chosen.includes(number));
  return wanted.slice(0, 2).reverse();
}

interface ValuesProps {
  secret: SecretRef;
  paths: SecretPaths;
  versions: readonly Version[];
}

function Values({ secret, paths, versions }: ValuesProps) {
  const { may } = usePermissions([paths.data, paths.subkeys]);
  const readsValues = may('read', paths.data);
  const readsKeys = may('read', paths.subkeys);
  if (versions.length === 0) return <p className="empty">No chosen version is readable.</p>;
  if (!readsValues && !readsKeys) return null;
  return (
    <SideBySide
      key={versions.map(({ number }) => number).join(' ')}
      secret={secret}
      versions={versions.map(({ number }) => number)}
      keysFrom={readsKeys ? 'subkeys' : 'data'}
      readsValues={readsValues}
    />
  );
}
