/**
 * The metrics by which known servers say how many requests they have, running and waiting. All serve them at /metrics.
 * The names are those of each server's own documentation or source, at the version that `source` names. None of these
 * servers was run for it.
 */
export interface IdlePreset {
  /** The server's default. */
  readonly port: number;
  /** That of its official image, where it is another. */
  readonly imagePort?: number;
  readonly metric: string;
  readonly source: string;
  /** The command line that starts this server. */
  readonly command: RegExp;
  /** The repository of its official image, without the registry. */
  readonly image: RegExp;
  /** The flag without which it serves no metrics. */
  readonly enable?: string;
}

export const IDLE_PRESETS: Readonly<Record<string, IdlePreset>> = {
  vllm: {
    port: 8000,
    metric: 'vllm:num_requests_running+vllm:num_requests_waiting',
    source: 'vllm-project/vllm, vllm/v1/metrics/loggers.py at 005a810',
    command: /^vllm (serve |serve$)|^vllm\.entrypoints\.openai\.api_server( |$)/,
    image: /^vllm\/vllm-openai$/,
  },
  sglang: {
    port: 30_000,
    metric: 'sglang:num_running_reqs+sglang:num_queue_reqs',
    source: 'sgl-project/sglang, docs/references/production_metrics.md at 00b08c4',
    command: /^sglang\.launch_server( |$)/,
    image: /^lmsysorg\/sglang$/,
    enable: '--enable-metrics',
  },
  tgi: {
    port: 3000,
    // ENV PORT of its Dockerfile at 0087333.
    imagePort: 80,
    metric: 'tgi_batch_current_size+tgi_queue_size',
    source: 'huggingface/text-generation-inference, docs/source/reference/metrics.md at 53fdbe6',
    command: /^text-generation-launcher( |$)/,
    image: /^huggingface\/text-generation-inference$/,
  },
  'llama.cpp': {
    port: 8080,
    metric: 'llamacpp:requests_processing+llamacpp:requests_deferred',
    source: 'ggml-org/llama.cpp, tools/server/README.md at 00dc805',
    command: /^llama-server( |$)/,
    image: /^(ggml-org|ggerganov)\/llama\.cpp$/,
    enable: '--metrics',
  },
};
