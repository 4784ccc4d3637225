{{/* The image of a service: (list $ "gateway"). */}}
{{- define "image" -}}
{{- $root := index . 0 -}}
{{- printf "%ssecrets-service-%s:%s" $root.Values.image.registry (index . 1) (default $root.Chart.AppVersion $root.Values.image.tag) -}}
{{- end -}}
