import { useSearchParams } from 'wouter';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { Breadcrumbs } from '../breadcrumbs.tsx';
import { type SecretRef, useMetadata } from '../queries.ts';
import { permissionPaths, type SecretPaths } from './secret-paths.ts';
import { SecretSettings } from './settings.tsx';
import { SyncedTo } from './synced-to.tsx';
import { NewestVersion } from './versions/newest-version.tsx';
import { Versions } from './versions/versions.tsx';
import { WriteForm } from './write/write-form.tsx';

/** A secret: where it is synced, its versions, a form for the next one, and its settings. */
export function SecretPage() {
  const [params] = useSearchParams();
  const secret = { mount: params.get('mount') ?? '', name: params.get('name') ?? '' };
  return <Secret key={`${secret.mount} ${secret.name}`} secret={secret} />;
}

function Secret({ secret }: { secret: SecretRef }) {
  const paths = permissionPaths(secret);
  const { may, known } = usePermissions(Object.values(paths));
  return (
    <>
      <Breadcrumbs mount={secret.mount} name={secret.name} />
      <PageHeader title={secret.name}>A secret in {secret.mount}.</PageHeader>
      {known ? (
        <Content secret={secret} paths={paths} readsMetadata={may('read', paths.metadata)} />
      ) : (
        <Loading what="what the token may do" />
      )}
    </>
  );
}

interface ContentProps {
  secret: SecretRef;
  paths: SecretPaths;
  readsMetadata: boolean;
}

function Content({ secret, paths, readsMetadata }: ContentProps) {
  const { data, error, refetch } = useMetadata(secret, readsMetadata);
  // Without the last condition, a moment offline would lose what is being typed.
  if (error && data === undefined)
    return <ProblemNotice title="The secret could not be read." error={error} onRetry={refetch} />;
  if (readsMetadata && data === undefined) return <Loading what="the secret" />;
  return (
    <>
      <SyncedTo secret={secret} />
      {readsMetadata && data === null && <p className="empty">It does not exist yet.</p>}
      {data && <Versions secret={secret} paths={paths} metadata={data} />}
      {!readsMetadata && (
        <>
          <NotAllowed what="This token may not see the versions." capability="read" path={paths.metadata} />
          <NewestVersion secret={secret} paths={paths} />
        </>
      )}
      <WriteForm secret={secret} paths={paths} exists={data !== null && data?.current_version !== 0} />
      {data && <SecretSettings secret={secret} paths={paths} metadata={data} />}
    </>
  );
}
