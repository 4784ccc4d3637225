import { Link, useParams, useSearchParams } from 'wouter';
import { PageButtons, usePages } from '../../../components/lists/pages.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { destinationAddress } from '../../destinations/destination-api.ts';
import { ofSecretAddress, secretOf } from '../addresses.ts';
import { useHistory } from '../association-api.ts';
import { Timeline } from './timeline.tsx';

/** Shows the history of each external secret of an association. */
export function HistoryPage() {
  const { type = '', name = '' } = useParams();
  const [search] = useSearchParams();
  const secret = secretOf(search);
  const pages = usePages<string>();
  const { data, error, refetch } = useHistory({ type, name }, secret, pages.after);
  return (
    <>
      <PageHeader title={`History of ${secret.mount}/${secret.secret_name}`}>
        In <Link href={destinationAddress({ type, name })}>{name}</Link>: the last 20 outcomes of each
        external secret. <Link href={ofSecretAddress(secret)}>Other destinations of the secret</Link>
      </PageHeader>
      {error && (
        <ProblemNotice title="The history could not be read." error={error} onRetry={() => refetch()} />
      )}
      {!data && !error && <Loading what="the history" />}
      <div className="stack">
        {data?.external_secrets.map((external) => (
          <Timeline key={`${external.sub_key} ${external.external_name}`} external={external} />
        ))}
        {data && <PageButtons pages={pages} next={data.next} />}
      </div>
    </>
  );
}
