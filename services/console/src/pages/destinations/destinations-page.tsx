import { Link } from 'wouter';
import { DestinationLink } from '../../components/inline/destination-link.tsx';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { useDestinationNames } from './destination-api.ts';
import { destinationTypes, typeNames } from './form/destination-types.ts';
import { useMayCreate } from './may-create.ts';
import './destinations.css';

const types = Object.keys(destinationTypes);
const listPath = 'sys/sync/destinations';
const paths = types.map((type) => `${listPath}/${type}`);

/** The destinations of the namespace by type. */
export function DestinationsPage() {
  const { may, known } = usePermissions(paths);
  const mayCreate = useMayCreate();
  const listed = types.filter((type) => may('list', `${listPath}/${type}`));
  return (
    <>
      <PageHeader
        title="Destinations"
        actions={
          mayCreate && (
            <Link href="/destinations/new" className="button button-primary">
              New destination
            </Link>
          )
        }
      >
        External stores that secrets of this namespace are synced to.
      </PageHeader>
      {known && listed.length === 0 && (
        <NotAllowed
          what="This token may not list destinations."
          capability="list"
          path={`${listPath}/<type>`}
        />
      )}
      {listed.map((type) => (
        <DestinationsOfType key={type} type={type} />
      ))}
    </>
  );
}

function DestinationsOfType({ type }: { type: string }) {
  const pages = usePages<string>();
  const { data, error, refetch } = useDestinationNames(type, pages.after, true);
  return (
    <section aria-labelledby={`type-${type}`}>
      <h2 id={`type-${type}`}>
        {type} <span className="soft">{typeNames[type]}</span>
      </h2>
      {error && !data && (
        <ProblemNotice title="The destinations could not be read." error={error} onRetry={() => refetch()} />
      )}
      {!data && !error && <Loading what="the destinations" />}
      {data?.names.length === 0 && <p className="soft">None.</p>}
      {data && data.names.length > 0 && (
        <>
          <p className="soft">{data.total.toLocaleString('en')} in all</p>
          <ul className="names">
            {data.names.map((name) => (
              <li key={name}>
                <DestinationLink type={type} name={name} />
              </li>
            ))}
          </ul>
          <PageButtons pages={pages} next={data.next} />
        </>
      )}
    </section>
  );
}
