// Makes the requests of the Vault provider of the Secrets Store CSI driver, with the client library that it uses: a login by
// its first mount, a read of each object, and another login when a token is refused. It is not the provider itself, which
// no other program can import (https://github.com/hashicorp/vault-csi-provider, internal/client and internal/provider).
//
// Reads a command of JSON from each line of its input, and prints its outcome.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/hashicorp/vault/api"
)

// An object of a SecretProviderClass.
type object struct {
	Name   string         `json:"objectName"`
	Path   string         `json:"secretPath"`
	Key    string         `json:"secretKey"`
	Method string         `json:"method"`
	Args   map[string]any `json:"secretArgs"`
}

// A mount of a volume with these objects.
type command struct {
	Objects []object `json:"objects"`
}

func main() {
	config := api.DefaultConfig()
	config.Address = os.Getenv("VAULT_ADDR")
	inner, err := api.NewClient(config)
	must(err)
	inner.ClearToken()
	inner.SetNamespace(os.Getenv("NAMESPACE"))
	provider := &provider{inner}
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var given command
		must(json.Unmarshal(lines.Bytes(), &given))
		files, err := provider.mount(context.Background(), given.Objects)
		answer := map[string]any{"result": files}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		must(answers.Encode(answer))
	}
}

// The client of one SecretProviderClass, whose token its mounts share.
type provider struct {
	inner *api.Client
}

// A path that several objects have is read once for each mount.
func (p *provider) mount(ctx context.Context, objects []object) (map[string]string, error) {
	files, read := map[string]string{}, map[string]*api.Secret{}
	for _, one := range objects {
		key := one.Method + " " + one.Path
		if read[key] == nil {
			secret, err := p.request(ctx, one)
			if err != nil {
				return nil, err
			}
			read[key] = secret
		}
		content, err := contentOf(read[key], one.Key)
		if err != nil {
			return nil, err
		}
		files[one.Name] = content
	}
	return files, nil
}

func (p *provider) request(ctx context.Context, one object) (*api.Secret, error) {
	if p.inner.Token() == "" {
		if err := p.login(ctx); err != nil {
			return nil, err
		}
	}
	method := http.MethodGet
	if one.Method != "" {
		method = one.Method
	}
	path, query, _ := strings.Cut(one.Path, "?")
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	request := p.inner.NewRequest(method, "/v1/"+path)
	request.Params = parameters
	if one.Args != nil {
		if err := request.SetJSONBody(one.Args); err != nil {
			return nil, err
		}
	}
	response, err := p.inner.RawRequestWithContext(ctx, request)
	if err != nil && response != nil && response.StatusCode == http.StatusForbidden {
		if err := p.login(ctx); err != nil {
			return nil, err
		}
		request.ClientToken = p.inner.Token()
		response, err = p.inner.RawRequestWithContext(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	return api.ParseSecret(response.Body)
}

func (p *provider) login(ctx context.Context) error {
	jwt, err := serviceAccountToken()
	if err != nil {
		return err
	}
	request := p.inner.NewRequest(http.MethodPost, "/v1/auth/"+os.Getenv("METHOD")+"/login")
	if err := request.SetJSONBody(map[string]string{"jwt": jwt, "role": os.Getenv("ROLE")}); err != nil {
		return err
	}
	response, err := p.inner.RawRequestWithContext(ctx, request)
	if err != nil {
		return err
	}
	secret, err := api.ParseSecret(response.Body)
	if err == nil {
		p.inner.SetToken(secret.Auth.ClientToken)
	}
	return err
}

// The value of a key, or the whole response.
func contentOf(secret *api.Secret, key string) (string, error) {
	data := secret.Data
	if inner, ok := data["data"].(map[string]any); ok {
		data = inner
	}
	if key == "" {
		content, err := json.Marshal(secret)
		return string(content), err
	}
	text, ok := data[key].(string)
	if !ok {
		return "", fmt.Errorf("key %q does not exist at the secret path", key)
	}
	return text, nil
}

// Requests a token of the pod's service account from the cluster, as the provider does without one from the driver.
func serviceAccountToken() (string, error) {
	file, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		return "", err
	}
	var config struct {
		Clusters []struct{ Cluster struct{ Server string } }
	}
	if err := json.Unmarshal(file, &config); err != nil {
		return "", err
	}
	wanted, err := json.Marshal(map[string]any{
		"spec": map[string]any{"audiences": []string{os.Getenv("AUDIENCE")}, "expirationSeconds": 600},
	})
	if err != nil {
		return "", err
	}
	path := "/api/v1/namespaces/shop/serviceaccounts/web/token"
	response, err := http.Post(config.Clusters[0].Cluster.Server+path, "application/json", bytes.NewReader(wanted))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var issued struct{ Status struct{ Token string } }
	err = json.NewDecoder(response.Body).Decode(&issued)
	return issued.Status.Token, err
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
