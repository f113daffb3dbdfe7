# Made from the code by `make docs`.
[ -z "${ZSH_VERSION-}" ] || { autoload -U +X bashcompinit && bashcompinit; }
_wavetell() {
    local words current=${COMP_WORDS[COMP_CWORD]}
    [ "$COMP_CWORD" -gt 1 ] || words="listen predict emissions scan serve devices record replay pretrain model fit evaluate explain generate coordinator join simulate bench experiment bounds separability config token completion backup restore"
    [ "$COMP_CWORD" -le 1 ] || case ${COMP_WORDS[1]} in
    listen) words='--help --seconds --json --text --probabilities --model --head --backend --threads --report-ms' ;;
    predict) words='--help --frame --json --model --head --backend --threads' ;;
    emissions) words='--help --seconds --json' ;;
    scan) words='--help --dwell --step --settle --passes --json --model --head --backend --threads' ;;
    serve) words='--help --json --model --head --backend --threads --report-ms --host --port --data --queue-ms --ring-s --ring-mb --max-streams --event-hits --event-ms --event-quiet --history --keep-days --keep-alerts-days --keep-recordings-days --min-free-mb --keep-mb --save --recordings-mb --clips-mb --labels-mb --sinks --federation --open --tls-cert --tls-key --allow-names --allow-schemes --allow-hosts --allow-folders --plugin-origins --max-body-mb --max-rate --max-connections' ;;
    devices) words='--help --json' ;;
    record) words='--help --seconds --max-size --json --description --above --before --after' ;;
    replay) words='--help --zmq --loop --push --tags --key' ;;
    pretrain) words='--help --json --recipe --clients --unnormalised --proximal --activation --level --rounds --steps --seed --workers --out --resume' ;;
    model) words='show verify --help --json' ;;
    fit) words='--help --data --labels --head --kernel --live --window --hop --level --refuse --unnormalised --seed --out --json' ;;
    evaluate) words='--help --recordings --sources --workers --clients --test --labels --live --limit --rows --unnormalised --seed --out --keep --json' ;;
    explain) words='--help --emission --picture --json --model --backend --threads' ;;
    generate) words='--help --json --classes --snr --seconds --rate --freq --type --seed --clean --random --scene --emissions --count' ;;
    coordinator) words='serve add list revoke audit rollback --help --json --folder --run-name --recipe --rounds --steps --seed --quorum --deadline --grace --method --start --proximal --replay --epsilon --delta --clip --port --tls-clients --host --data --tls-cert --tls-key --allow-names --max-rate --max-connections' ;;
    join) words='--help --json --station --run-name --token-file --recordings --stream --client --frames --probe --precision --folder --nice --seconds --service --labelled --labels --each-round --head --out --patience --ca --cert' ;;
    simulate) words='--help --stations --recipe --rounds --steps --frames --seed --precision --method --attack --attackers --epsilon --delta --clip --probe --folder' ;;
    bench) words='engine service band pretrain federation --help' ;;
    experiment) words='--help --json --list --scale --seeds --first-seed --methods --columns --proximal --activation --level --clients --unnormalised --stations --start --replay --report --workers --data --out' ;;
    bounds) words='--help --clients --inexact --json' ;;
    separability) words='--help --head --eps --seed --json' ;;
    config) words='--help --json' ;;
    token) words='add list revoke --help --role --json --data' ;;
    completion) words='bash zsh fish --help' ;;
    backup) words='--help --json --data --history' ;;
    restore) words='--help --json --data' ;;
    esac
    [ "$COMP_CWORD" -le 1 ] || case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD-1]} in
    listen:--backend) words='auto torch native native-bf16' ;;
    predict:--backend) words='auto torch native native-bf16' ;;
    scan:--backend) words='auto torch native native-bf16' ;;
    serve:--backend) words='auto torch native native-bf16' ;;
    serve:--save) words='no unknown all' ;;
    serve:--open) words='no yes' ;;
    pretrain:--clients) words='paper paper-snr paper-cfo' ;;
    pretrain:--activation) words='leaky_relu relu softplus' ;;
    pretrain:--level) words='rms raw' ;;
    fit:--kernel) words='rbf linear' ;;
    evaluate:--sources) words='even odd' ;;
    evaluate:--clients) words='paper paper-snr paper-cfo' ;;
    explain:--backend) words='auto torch native native-bf16' ;;
    coordinator:--method) words='mean clipped trimmed median' ;;
    join:--precision) words='float32 float16 int8' ;;
    simulate:--method) words='mean clipped trimmed median' ;;
    simulate:--attack) words='flip noise' ;;
    experiment:--activation) words='leaky_relu relu softplus' ;;
    experiment:--level) words='rms raw' ;;
    experiment:--clients) words='labels snr cfo' ;;
    bounds:--clients) words='paper paper-snr paper-cfo' ;;
    token:--role) words='read operate admin' ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _wavetell wavetell
