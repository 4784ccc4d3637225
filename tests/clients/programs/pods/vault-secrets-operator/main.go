// Runs the controller of Vault Secrets Operator for a VaultStaticSecret with instant updates. The objects of the cluster are in
// memory; the tokens of service accounts come from the cluster to which KUBECONFIG leads. Reads a command of JSON from each
// line of its input, and prints its outcome.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-logr/logr"
	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	secretsv1beta1 "github.com/hashicorp/vault-secrets-operator/api/v1beta1"
	"github.com/hashicorp/vault-secrets-operator/common"
	"github.com/hashicorp/vault-secrets-operator/controllers"
	"github.com/hashicorp/vault-secrets-operator/helpers"
	"github.com/hashicorp/vault-secrets-operator/vault"
)

const namespace = "shop"

type command struct {
	Do   string `json:"do"`
	Name string `json:"name"`
	Path string `json:"path"`
}

func main() {
	ctrl.SetLogger(logr.Discard())
	ctx := context.Background()
	operator, err := start(ctx)
	must(err)
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given command
		must(json.Unmarshal(lines.Bytes(), &given))
		result, err := operator.carryOut(ctx, given)
		answer := map[string]any{"result": result}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		must(answers.Encode(answer))
	}
}

type operator struct {
	client    client.Client
	informers *informers
	events    *events
}

// The parts that `main` of the operator starts for this kind of object, with its cluster in memory.
func start(ctx context.Context) (*operator, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	must(secretsv1beta1.AddToScheme(scheme))
	objects, err := cluster(scheme, config)
	if err != nil {
		return nil, err
	}
	watched := &informers{FakeInformers: informertest.FakeInformers{Scheme: scheme}}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:         scheme,
		Metrics:        server.Options{BindAddress: "0"},
		NewCache:       func(*rest.Config, cache.Options) (cache.Cache, error) { return watched, nil },
		NewClient:      func(*rest.Config, client.Options) (client.Client, error) { return objects, nil },
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return objects.RESTMapper(), nil },
	})
	if err != nil {
		return nil, err
	}
	factory := vault.DefaultCachingClientFactoryConfig()
	factory.GlobalVaultAuthOptions = &common.GlobalVaultAuthOptions{}
	clients, err := vault.InitCachingClientFactory(ctx, objects, factory)
	if err != nil {
		return nil, err
	}
	seen := &events{}
	err = (&controllers.VaultStaticSecretReconciler{
		Client:                      objects,
		Scheme:                      scheme,
		Recorder:                    seen,
		ClientFactory:               clients,
		SecretDataBuilder:           helpers.NewSecretsDataBuilder(),
		SecretsClient:               objects,
		HMACValidator:               helpers.NewHMACValidator(factory.StorageConfig.HMACSecretObjKey),
		GlobalTransformationOptions: &helpers.GlobalTransformationOptions{},
		BackOffRegistry: controllers.NewBackOffRegistry(
			backoff.WithInitialInterval(200*time.Millisecond), backoff.WithMaxInterval(time.Second)),
	}).SetupWithManager(manager, controller.Options{})
	if err != nil {
		return nil, err
	}
	go func() { must(manager.Start(ctx)) }()
	return &operator{client: objects, informers: watched, events: seen}, nil
}

// Objects that an administrator has written, and the way to request tokens.
func cluster(scheme *runtime.Scheme, config *rest.Config) (client.Client, error) {
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&secretsv1beta1.VaultStaticSecret{}).
		WithObjects(
			&corev1.ServiceAccount{ObjectMeta: named("web", 1)},
			&secretsv1beta1.VaultConnection{
				ObjectMeta: named("connection", 2),
				Spec:       secretsv1beta1.VaultConnectionSpec{Address: os.Getenv("VAULT_ADDR")},
			},
			&secretsv1beta1.VaultAuth{ObjectMeta: named("auth", 3), Spec: authSpec(os.Getenv("METHOD"))},
		).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourceCreate: func(ctx context.Context, _ client.Client, _ string, account, request client.Object, _ ...client.SubResourceCreateOption) error {
				wanted := request.(*authv1.TokenRequest)
				issued, err := api.CoreV1().ServiceAccounts(account.GetNamespace()).
					CreateToken(ctx, account.GetName(), wanted, metav1.CreateOptions{})
				if err == nil {
					wanted.Status = issued.Status
				}
				return err
			},
		}).Build(), nil
}

func named(name string, id int) metav1.ObjectMeta {
	uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", id)
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid), Generation: 1}
}

func authSpec(method string) secretsv1beta1.VaultAuthSpec {
	spec := secretsv1beta1.VaultAuthSpec{
		VaultConnectionRef: "connection", Namespace: os.Getenv("NAMESPACE"), Method: method, Mount: method}
	role, audiences := os.Getenv("ROLE"), []string{os.Getenv("AUDIENCE")}
	if method == "kubernetes" {
		spec.Kubernetes = &secretsv1beta1.VaultAuthConfigKubernetes{
			Role: role, ServiceAccount: "web", TokenAudiences: audiences, TokenExpirationSeconds: 600}
	} else {
		spec.JWT = &secretsv1beta1.VaultAuthConfigJWT{
			Role: role, ServiceAccount: "web", TokenAudiences: audiences, TokenExpirationSeconds: 600}
	}
	return spec
}

func (o *operator) carryOut(ctx context.Context, given command) (any, error) {
	switch given.Do {
	case "follow":
		return nil, o.follow(ctx, given)
	case "secret":
		secret := &corev1.Secret{}
		err := o.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: given.Name}, secret)
		return texts(secret.Data), client.IgnoreNotFound(err)
	default:
		return o.events.take(), nil
	}
}

// Creates a VaultStaticSecret, of which the controller is notified. It is read again every hour, or when there is an event.
func (o *operator) follow(ctx context.Context, given command) error {
	object := &secretsv1beta1.VaultStaticSecret{
		ObjectMeta: named(given.Name, 4),
		Spec: secretsv1beta1.VaultStaticSecretSpec{
			VaultAuthRef: "auth",
			Namespace:    os.Getenv("NAMESPACE"),
			Mount:        os.Getenv("MOUNT"),
			Type:         "kv-v2",
			Path:         given.Path,
			RefreshAfter: "1h",
			Destination:  secretsv1beta1.Destination{Name: given.Name, Create: true},
			SyncConfig:   &secretsv1beta1.SyncConfig{InstantUpdates: true},
		},
	}
	if err := o.client.Create(ctx, object); err != nil {
		return err
	}
	informer, err := o.informers.GetInformer(ctx, object)
	if err != nil {
		return err
	}
	// Informers show objects also to a controller that starts later; this one does not.
	seen := object.DeepCopy()
	for attempt := 0; attempt < 40 && len(seen.Finalizers) == 0; attempt++ {
		informer.(*controllertest.FakeInformer).Add(object)
		time.Sleep(500 * time.Millisecond)
		if err := o.client.Get(ctx, client.ObjectKeyFromObject(object), seen); err != nil {
			return err
		}
	}
	return nil
}

// Informers of objects that only this program creates.
type informers struct {
	informertest.FakeInformers
	mutex sync.Mutex
}

func (i *informers) GetInformer(ctx context.Context, object client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if _, isMetadata := object.(*metav1.PartialObjectMetadata); isMetadata {
		object = &corev1.Secret{} // the only kind of which the controller watches the metadata
	}
	return i.FakeInformers.GetInformer(ctx, object, options...)
}

func texts(found map[string][]byte) map[string]string {
	all := map[string]string{}
	for name, value := range found {
		all[name] = string(value)
	}
	return all
}

// The events of the cluster that the operator records, by their reason.
type events struct {
	record.EventRecorder
	mutex sync.Mutex
	list  []string
}

func (e *events) Event(_ runtime.Object, _, reason, message string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.list = append(e.list, reason+": "+message)
}

func (e *events) Eventf(object runtime.Object, kind, reason, format string, values ...any) {
	e.Event(object, kind, reason, fmt.Sprintf(format, values...))
}

func (e *events) take() []string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	taken := e.list
	e.list = nil
	return taken
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
