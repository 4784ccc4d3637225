import { useSearchParams } from 'wouter';
import { PageHeader } from '../../components/page-header.tsx';
import { NotAllowed } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { secretOf } from './addresses.ts';
import { DestinationsOfSecret } from './destinations-of-secret.tsx';

const path = 'sys/sync/associations/destinations';
const paths = [path];

/** Where a secret is synced to. */
export function OfSecretPage() {
  const [search] = useSearchParams();
  const secret = secretOf(search);
  const { may, known } = usePermissions(paths);
  return (
    <>
      <PageHeader title={`${secret.mount}/${secret.secret_name}`}>Where this secret is synced to.</PageHeader>
      {may('read', path) && <DestinationsOfSecret secret={secret} />}
      {known && !may('read', path) && (
        <NotAllowed what="This token may not read where secrets are synced." capability="read" path={path} />
      )}
    </>
  );
}
