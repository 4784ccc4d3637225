/** One value of an instant query. */
interface Sample {
  metric: Record<string, string>;
  value: [number, string];
}

interface Target {
  labels: { job: string; instance: string };
  health: string;
  lastError: string;
}

/** A client of the HTTP API of a Prometheus server: https://prometheus.io/docs/prometheus/latest/querying/api/ */
export interface PrometheusApi {
  query(expression: string): Promise<Sample[]>;
  targets(): Promise<Target[]>;
}

/** Returns a client of the server at this URL. */
export function prometheusApi(url: string): PrometheusApi {
  const get = async (path: string) => {
    const response = await fetch(`${url}/api/v1/${path}`);
    const body = (await response.json()) as { status: string; error?: string; data: unknown };
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`);
    return body.data;
  };
  return {
    query: async (expression) =>
      ((await get(`query?query=${encodeURIComponent(expression)}`)) as { result: Sample[] }).result,
    targets: async () => ((await get('targets')) as { activeTargets: Target[] }).activeTargets,
  };
}
