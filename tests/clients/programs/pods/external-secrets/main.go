// Has the Vault provider of External Secrets do what its controllers have it do. Reads a command of JSON from each line of
// its input, and prints its outcome. KUBECONFIG leads to the cluster that issues the tokens of service accounts.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	esmeta "github.com/external-secrets/external-secrets/apis/meta/v1"
	"github.com/external-secrets/external-secrets/pkg/feature"
	_ "github.com/external-secrets/external-secrets/pkg/provider/vault"
)

const cacheFlag = "experimental-enable-vault-token-cache"

type command struct {
	Do       string `json:"do"`
	Key      string `json:"key"`
	Property string `json:"property"`
	Version  string `json:"version"`
	Value    string `json:"value"`
}

func main() {
	must(initialize(os.Getenv("CACHE") == "on"))
	store := secretStore()
	provider, err := esv1.GetProvider(store)
	must(err)
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given command
		must(json.Unmarshal(lines.Bytes(), &given))
		result, err := reconcile(context.Background(), provider, store, given)
		answer := map[string]any{"result": result}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		must(answers.Encode(answer))
	}
}

// Features have flags of the controller, and are initialized when it starts.
func initialize(hasCache bool) error {
	for _, one := range feature.Features() {
		if hasCache && one.Flags.Lookup(cacheFlag) != nil {
			if err := one.Flags.Parse([]string{"--" + cacheFlag}); err != nil {
				return err
			}
		}
		if one.Initialize != nil {
			one.Initialize()
		}
	}
	return nil
}

// Makes a client, uses it and closes it, as the reconciliation of an ExternalSecret or a PushSecret does.
func reconcile(ctx context.Context, provider esv1.Provider, store esv1.GenericStore, given command) (any, error) {
	client, err := provider.NewClient(ctx, store, nil, store.GetNamespace())
	if err != nil {
		return nil, err
	}
	result, err := carryOut(ctx, client, given)
	if closed := client.Close(ctx); err == nil {
		err = closed
	}
	return result, err
}

func carryOut(ctx context.Context, client esv1.SecretsClient, given command) (any, error) {
	ref := esv1.ExternalSecretDataRemoteRef{Key: given.Key, Property: given.Property, Version: given.Version}
	remote := v1alpha1.PushSecretRemoteRef{RemoteKey: given.Key, Property: given.Property}
	switch given.Do {
	case "get":
		value, err := client.GetSecret(ctx, ref)
		return string(value), err
	case "map":
		found, err := client.GetSecretMap(ctx, ref)
		return texts(found), err
	case "find":
		found, err := client.GetAllSecrets(ctx, esv1.ExternalSecretFind{Path: &given.Key, Name: &esv1.FindName{RegExp: ".*"}})
		return texts(found), err
	case "exists":
		return client.SecretExists(ctx, remote)
	case "push":
		secret := &corev1.Secret{Data: map[string][]byte{"value": []byte(given.Value)}}
		match := v1alpha1.PushSecretMatch{SecretKey: "value", RemoteRef: remote}
		return nil, client.PushSecret(ctx, secret, v1alpha1.PushSecretData{Match: match})
	case "delete":
		return nil, client.DeleteSecret(ctx, remote)
	default:
		return client.Validate()
	}
}

func texts(found map[string][]byte) map[string]string {
	all := map[string]string{}
	for name, value := range found {
		all[name] = string(value)
	}
	return all
}

// STORE, if it is set, is a SecretStore in JSON, whose fields must all exist.
func secretStore() *esv1.SecretStore {
	if given := os.Getenv("STORE"); given != "" {
		store := &esv1.SecretStore{}
		decoder := json.NewDecoder(strings.NewReader(given))
		decoder.DisallowUnknownFields()
		must(decoder.Decode(store))
		store.ResourceVersion = "1"
		return store
	}
	mount := os.Getenv("MOUNT")
	vault := &esv1.VaultProvider{
		Server:  os.Getenv("VAULT_ADDR"),
		Path:    &mount,
		Version: esv1.VaultKVStoreV2,
		Auth:    auth(os.Getenv("METHOD"), os.Getenv("ROLE"), []string{os.Getenv("AUDIENCE")}),
	}
	return &esv1.SecretStore{
		TypeMeta:   metav1.TypeMeta{Kind: esv1.SecretStoreKind},
		ObjectMeta: metav1.ObjectMeta{Name: "store", Namespace: "shop", ResourceVersion: "1"},
		Spec:       esv1.SecretStoreSpec{Provider: &esv1.SecretStoreProvider{Vault: vault}},
	}
}

// Both methods request a token of the service account `web` from the cluster.
func auth(method, role string, audiences []string) *esv1.VaultAuth {
	account := esmeta.ServiceAccountSelector{Name: "web", Audiences: audiences}
	if method == "kubernetes" {
		return &esv1.VaultAuth{Kubernetes: &esv1.VaultKubernetesAuth{Path: method, Role: role, ServiceAccountRef: &account}}
	}
	token := &esv1.VaultKubernetesServiceAccountTokenAuth{ServiceAccountRef: account, Audiences: &audiences}
	return &esv1.VaultAuth{Jwt: &esv1.VaultJwtAuth{Path: method, Role: role, KubernetesServiceAccountToken: token}}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
